import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerRequest } from "srvx";
import { staticMiddleware } from "srvx/static";
import { afterEach, describe, expect, it, vi } from "vitest";
import { listen } from "#test/listen";
import { open, readToEnd, readUntil } from "#test/raw";
import { node } from "./node.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** Serves one file, and the text `next` at every other path. */
async function serving(content: Uint8Array | string): Promise<{ file: string; address: string }> {
  const dir = mkdtempSync(join(tmpdir(), "tsweb-file-"));
  opened.push({ close: () => rmSync(dir, { recursive: true }) });
  const file = join(dir, "file.bin");
  writeFileSync(file, content);
  const files = staticMiddleware({ dir, compress: false });
  const other = () => new Response("next");
  const server = await listen(node({ fetch: (request) => files(request as ServerRequest, other) })); // what it reads of it
  opened.push(server);
  return { file, address: server.address };
}

const getBytes = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

describe("a file's answer", () => {
  const LARGE = 16 * 1024 * 1024; // more than systems keep for a connection

  it("is broken off when the file is cut short meanwhile: no other answer is taken for the rest", async () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    const { file, address } = await serving(Buffer.alloc(LARGE, "x"));
    const client = await open(address);
    client.write(getBytes("/file.bin"));
    await readUntil(client, /\r\n\r\nx/);
    client.pause();
    truncateSync(file, 0);
    const received = readToEnd(client);
    client.write(getBytes("/next"));
    client.resume();
    expect((await received).text).not.toContain("next");
    expect(String(log.mock.calls)).toContain("A file was changed while it was sent: of 16777216 bytes");
  });

  it.each([0, 1, 200_000])("of %i bytes is whole, and the connection serves on", async (length) => {
    const { address } = await serving("x".repeat(length));
    const client = await open(address);
    client.write(getBytes("/file.bin") + getBytes("/next"));
    const text = await readUntil(client, /next\r\n0\r\n\r\n$/);
    expect(/\r\n\r\n(x*)HTTP\/1\.1 200/.exec(text)?.[1]).toHaveLength(length);
    client.destroy();
  });

  it("is whole where a part was asked for", async () => {
    const { address } = await serving("0123456789");
    const response = await fetch(`${address}/file.bin`, { headers: { range: "bytes=2-4" } });
    expect([response.status, await response.text()]).toEqual([206, "234"]);
  });
});
