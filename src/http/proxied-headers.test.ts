import { once } from "node:events";
import { createServer, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { proxiedHeaders } from "./proxied-headers.ts";

const opened: { close(): void }[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) each.close();
});

/** Fetches an answer of another server. */
async function fetched(headers: OutgoingHttpHeaders, body: Uint8Array | string = "x", method = "GET") {
  const other = createServer((_, answer) => answer.writeHead(200, headers).end(body)).listen(0, "127.0.0.1");
  opened.push({ close: () => other.close().closeAllConnections() });
  await once(other, "listening");
  return fetch(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`, { method }); // it listens on a port
}

describe("the headers of an answer that was fetched", () => {
  it.each([
    ["gzip", gzipSync],
    ["GZIP", gzipSync],
    ["br", brotliCompressSync],
    ["deflate", deflateSync],
  ] as const)("say nothing of the coding %s, nor of the length that the body had in it", async (coding, encode) => {
    const bytes = encode("x".repeat(1000));
    const given = await fetched({ "content-encoding": coding, "content-length": bytes.length, etag: '"1"' }, bytes);
    const headers = proxiedHeaders(given);
    expect(headers.get("content-encoding")).toBeNull();
    expect(headers.get("content-length")).toBeNull();
    expect(headers.get("etag")).toBe('"1"');
    expect(await given.text()).toHaveLength(1000);
  });

  it("say the length of a body in no coding, and a coding that was left on it", async () => {
    expect(proxiedHeaders(await fetched({ "content-length": 1 })).get("content-length")).toBe("1");
    const unknown = proxiedHeaders(await fetched({ "content-encoding": "aes128gcm", "content-length": 1 }));
    expect([unknown.get("content-encoding"), unknown.get("content-length")]).toEqual(["aes128gcm", "1"]);
  });

  it("say what a body would have been, where there is none", async () => {
    const headers = proxiedHeaders(await fetched({ "content-encoding": "gzip", "content-length": 5 }, "", "HEAD"));
    expect([headers.get("content-encoding"), headers.get("content-length")]).toEqual(["gzip", "5"]);
  });

  it("say nothing of the connection to the other server", async () => {
    const given = await fetched({ connection: "close", "keep-alive": "timeout=600", "transfer-encoding": "chunked" });
    const names = [...proxiedHeaders(given).keys()];
    expect(names).not.toContain("connection");
    expect(names).not.toContain("keep-alive");
    expect(names).not.toContain("transfer-encoding");
  });
});

describe("the headers of an answer that was made here", () => {
  it("are as they are: its body may well be compressed", () => {
    const given = new Response(gzipSync("x"), { headers: { "content-encoding": "gzip", connection: "close" } });
    expect([...proxiedHeaders(given)]).toEqual([
      ["connection", "close"],
      ["content-encoding", "gzip"],
    ]);
  });

  it("are its own: what is set on them is not set on it", () => {
    const given = new Response(null);
    proxiedHeaders(given).set("set-cookie", "a=b");
    expect(given.headers.has("set-cookie")).toBe(false);
  });
});
