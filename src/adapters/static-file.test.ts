import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { listen } from "#test/listen";
import { openSocket, readToEnd, readUntil } from "#test/raw-http";
import { toFetchResponse } from "../http/index.ts";
import { attachInternals, createStaticFiles } from "../server/index.ts";
import { node } from "./node.ts";

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

const logError = vi.fn();
const log = { error: logError, warn: vi.fn(), info: vi.fn(), refused: vi.fn() };

/** Serves one file, and the text `next` at every other path. */
async function serveFile(content: Uint8Array | string): Promise<{ file: string; address: string }> {
  const dir = mkdtempSync(join(tmpdir(), "tsweb-file-"));
  opened.push({ close: () => rmSync(dir, { recursive: true }) });
  const file = join(dir, "file.bin");
  writeFileSync(file, content);
  const files = createStaticFiles(["/file.bin"], { dir, log });
  const app = { fetch: () => toFetchResponse({ status: 500, headers: [], body: null }) };
  attachInternals(app, {
    log,
    inspection: Object.create(null),
    sessions: Object.create(null),
    onMount: () => undefined,
    liveConnections: () => [],
    shownQueries: () => [],
    clientBytes: () => ({ take: () => true, release: () => undefined }),
    targetOf: () => ({ kind: "other", name: null, route: null }),
    setDevelopment: () => undefined,
    logUnsent: (_inbound, _result, err) => logError({ err }),
    metrics: undefined,
    checkPackages: async () => undefined,
    renderStaticPages: async () => ({ base: "", pages: [], generated: [] }),
    hooks: Object.create(null),
    logCrash: async () => undefined,
    async handle(inbound) {
      const response = await files.handle(inbound, inbound.pathname);
      const { status, headers, body } = response ?? { status: 200, headers: {}, body: "next" };
      return { status, headers: Object.entries(headers ?? {}).flat(), body };
    },
  });
  const server = await listen(node(app));
  opened.push(server);
  return { file, address: server.address };
}

const getBytes = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

describe("a file over a connection", () => {
  const LARGE = 16 * 1024 * 1024; // more than the system buffers for a connection

  it("is aborted when it was truncated while it was sent, so that no other response is read as its rest", async () => {
    const { file, address } = await serveFile(Buffer.alloc(LARGE, "x"));
    const client = await openSocket(address);
    client.write(getBytes("/file.bin"));
    await readUntil(client, /\r\n\r\nx/);
    client.pause();
    truncateSync(file, 0);
    const received = readToEnd(client);
    client.write(getBytes("/next"));
    client.resume();
    expect((await received).text).not.toContain("next");
    expect(String(logError.mock.lastCall?.[0].err)).toMatch(
      /file\.bin changed while it was sent: \d+ of 16777216 bytes/,
    );
  });

  it.each([0, 1, 200_000])(
    "arrives whole with %i bytes, and the connection serves the next request",
    async (length) => {
      const { address } = await serveFile("x".repeat(length));
      const client = await openSocket(address);
      client.write(getBytes("/file.bin") + getBytes("/next"));
      const text = await readUntil(client, /\r\n\r\nnext$/);
      expect(/\r\n\r\n(x*)HTTP\/1\.1 200/.exec(text)?.[1]).toHaveLength(length);
      client.destroy();
    },
  );

  it("is sent only in the requested range", async () => {
    const { address } = await serveFile("0123456789");
    const response = await fetch(`${address}/file.bin`, { headers: { range: "bytes=2-4" } });
    expect([response.status, await response.text()]).toEqual([206, "234"]);
  });
});
