/**
 * All text that a browser can receive from an application, in which tests search for secrets.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Page, Response } from "playwright-core";

/** One file or response. */
export interface BrowserText {
  readonly name: string;
  readonly text: string;
}

/** Returns the text of every file that a build made for browsers, source maps and compressed copies included. */
export function textOfBuild(dir: string): BrowserText[] {
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
 * Opens pages one after the other and returns every response that the browser received.
 *
 * @param paths the paths of pages, and of any other resources
 */
export async function textOfPages(page: Page, paths: readonly string[]): Promise<BrowserText[]> {
  const received: BrowserText[] = [];
  for (const path of paths) {
    const responses: Response[] = [];
    const record = (response: Response) => responses.push(response);
    page.on("response", record);
    await page.goto(path, { waitUntil: "networkidle" });
    page.off("response", record);
    for (const response of responses) {
      const isRedirect = response.status() >= 300 && response.status() < 400; // its body cannot be read
      received.push({ name: response.url(), text: isRedirect ? "" : await response.text() });
    }
  }
  return received;
}
