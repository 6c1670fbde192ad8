/**
 * All text that a browser can get of an application, to be searched for what it must not hold.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Page, Response } from "playwright-core";

/** One file or answer. */
export interface ReceivedText {
  readonly name: string;
  readonly text: string;
}

/** Reads every file that a build made for browsers, source maps and compressed copies included. */
export function textOfBuild(dir: string): ReceivedText[] {
  const client = join(dir, "dist/client");
  return readdirSync(client, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => ({ name, text: unpack(name, readFileSync(join(parentPath, name))) }));
}

function unpack(name: string, bytes: Buffer): string {
  if (name.endsWith(".br")) return brotliDecompressSync(bytes).toString();
  if (name.endsWith(".gz")) return gunzipSync(bytes).toString();
  return bytes.toString();
}

/**
 * Opens pages, one after the other, and gives every answer that the browser got for them.
 *
 * @param paths the pages, and any other addresses that are to be asked for
 */
export async function textOfPages(page: Page, paths: readonly string[]): Promise<ReceivedText[]> {
  const received: ReceivedText[] = [];
  for (const path of paths) {
    const responses: Response[] = [];
    const note = (response: Response) => responses.push(response);
    page.on("response", note);
    await page.goto(path, { waitUntil: "networkidle" });
    page.off("response", note);
    for (const response of responses) {
      const isRedirect = response.status() >= 300 && response.status() < 400; // it has no body to be had
      received.push({ name: response.url(), text: isRedirect ? "" : await response.text() });
    }
  }
  return received;
}
