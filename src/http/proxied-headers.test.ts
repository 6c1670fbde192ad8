import { once } from "node:events";
import { createServer, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { proxiedHeaders } from "./complete-response.ts";

const openServers: { close(): void }[] = [];
afterEach(() => {
  for (const server of openServers.splice(0)) server.close();
});

/** Fetches a response from another server. */
async function fetchResponse(headers: OutgoingHttpHeaders, body: Uint8Array | string = "x", method = "GET") {
  const server = createServer((_, response) => response.writeHead(200, headers).end(body)).listen(0, "127.0.0.1");
  openServers.push({ close: () => server.close().closeAllConnections() });
  await once(server, "listening");
  return fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { method }); // the server listens on a port
}

describe("the headers of a fetched response", () => {
  it.each([
    ["gzip", gzipSync],
    ["GZIP", gzipSync],
    ["br", brotliCompressSync],
    ["deflate", deflateSync],
  ] as const)("lose the content coding %s and the length of the encoded body", async (coding, encode) => {
    const bytes = encode("x".repeat(1000));
    const response = await fetchResponse(
      { "content-encoding": coding, "content-length": bytes.length, etag: '"1"' },
      bytes,
    );
    const headers = proxiedHeaders(response);
    expect(headers.get("content-encoding")).toBeNull();
    expect(headers.get("content-length")).toBeNull();
    expect(headers.get("etag")).toBe('"1"');
    expect(await response.text()).toHaveLength(1000);
  });

  it("keep the length of a body without coding, and a coding that fetch does not decode", async () => {
    expect(proxiedHeaders(await fetchResponse({ "content-length": 1 })).get("content-length")).toBe("1");
    const unknown = proxiedHeaders(await fetchResponse({ "content-encoding": "aes128gcm", "content-length": 1 }));
    expect([unknown.get("content-encoding"), unknown.get("content-length")]).toEqual(["aes128gcm", "1"]);
  });

  it("keep the coding and the length of a response without a body", async () => {
    const headers = proxiedHeaders(
      await fetchResponse({ "content-encoding": "gzip", "content-length": 5 }, "", "HEAD"),
    );
    expect([headers.get("content-encoding"), headers.get("content-length")]).toEqual(["gzip", "5"]);
  });

  it("lose the headers of the connection to the other server", async () => {
    const response = await fetchResponse({
      connection: "close",
      "keep-alive": "timeout=600",
      "transfer-encoding": "chunked",
    });
    const names = [...proxiedHeaders(response).keys()];
    expect(names).not.toContain("connection");
    expect(names).not.toContain("keep-alive");
    expect(names).not.toContain("transfer-encoding");
  });
});

describe("the headers of a response that was created here", () => {
  it("are kept, since its body may be compressed", () => {
    const response = new Response(gzipSync("x"), { headers: { "content-encoding": "gzip", connection: "close" } });
    expect([...proxiedHeaders(response)]).toEqual([
      ["connection", "close"],
      ["content-encoding", "gzip"],
    ]);
  });

  it("are a copy: a change does not affect the response", () => {
    const response = new Response(null);
    proxiedHeaders(response).set("set-cookie", "a=b");
    expect(response.headers.has("set-cookie")).toBe(false);
  });
});
