import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { listen } from "#test/listen";
import { parseResponse, sendBytes } from "#test/raw-http";
import { requireInternals } from "../server/index.ts";
import { node } from "./index.ts";
import { serverOptions } from "./serve.ts";

describe("node(app)", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("warns in the log when the pages of an application have no scripts because it was not built", () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    node(createTestApp({ home: compiledPage("/", () => "Home") }));
    expect(log.mock.calls).toEqual([[expect.stringContaining("Run tsweb build, and mount dist/app.mjs instead.")]]);
  });

  it("does not warn for an application without pages, nor for another Fetch handler", () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    node(createTestApp({ add: compiledServer("add", () => 1) }));
    node({ fetch: () => new Response() });
    expect(log).not.toHaveBeenCalled();
  });
});

describe("the response of a route", () => {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    vi.restoreAllMocks();
    for (const each of opened.splice(0)) await each.close();
  });

  /** Serves a route, and returns what one connection receives for a request to it and for one after it. */
  async function requestTwice(respond: () => Response | Promise<Response>): Promise<string> {
    const server = await listen(node(createTestApp({ odd: compiledRoute("GET /odd", respond) })));
    opened.push(server);
    const request = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
    return (await sendBytes(server.address, request("/odd"), request("/next", "Connection: close\r\n"))).text;
  }

  const INJECTED = "HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\ninjected";

  it.each([
    ["longer than its Content-Length, in several chunks", ["four", INJECTED], "4"],
    ["longer than its Content-Length, in one chunk", [`four${INJECTED}`], "4"],
    ["shorter than its Content-Length", ["four"], "400"],
  ])("that is %s is aborted, so that none of it is parsed as the next response", async (_, chunks, length) => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    const text = await requestTwice(() => {
      const remaining = chunks.map((chunk) => new TextEncoder().encode(chunk));
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const chunk = remaining.shift();
          if (chunk) controller.enqueue(chunk);
          else controller.close();
        },
      });
      return new Response(body, { headers: { "content-length": length } });
    });
    expect(text).not.toContain("injected");
    expect(text).not.toContain("404");
    expect(String(log.mock.calls)).toContain("A response could not be sent");
  });

  it("that closes the connection does so as soon as the rest of the request has arrived, which the route did not read", async () => {
    const respond = () => new Response("closing", { headers: { connection: "close" } });
    const server = await listen(node(createTestApp({ odd: compiledRoute("POST /odd", respond) })));
    opened.push(server);
    const startedAt = performance.now();
    const head = "POST /odd HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    const { text, isReset } = await sendBytes(server.address, `${head}3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n`);
    expect(text).toMatch(/\r\n7\r\nclosing\r\n0\r\n\r\n$/);
    expect(isReset).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(2500); // the limit for the rest is 5 seconds
  });

  it.each([
    ["of the route alone", {}, /^HTTP\/1\.1 500 Internal Server Error\r\n.*\r\n\r\n$/s], // without a body
    ["of the route beside those of the host", { "x-host": "1" }, /^$/],
  ])("whose headers Node rejects ends its connection: headers %s [SITE-30]", async (_, hostHeaders, expected) => {
    vi.spyOn(console, "error").mockReturnValue();
    const cancel = vi.fn();
    // A trailer needs a chunked body, which HTTP/1.0 does not have.
    const respond = () => new Response(new ReadableStream({ cancel }), { headers: { trailer: "x-checksum" } });
    const handle = node(createTestApp({ odd: compiledRoute("GET /odd", respond) }));
    const server = await listen((request, response) => {
      for (const [name, value] of Object.entries(hostHeaders)) response.setHeader(name, value);
      handle(request, response);
    });
    opened.push(server);
    const { text } = await sendBytes(server.address, "GET /odd HTTP/1.0\r\nHost: localhost\r\n\r\n");
    expect(text).toMatch(expected);
    expect(cancel).toHaveBeenCalledOnce();
  });

  it("that was fetched compressed from another server arrives whole", async () => {
    const long = "whole ".repeat(1000);
    const upstream = await listen((_, response) => {
      const bytes = gzipSync(long);
      response.writeHead(200, { "content-encoding": "gzip", "content-length": bytes.length }).end(bytes);
    });
    opened.push(upstream);
    const server = await listen(node(createTestApp({ odd: compiledRoute("GET /odd", () => fetch(upstream.address)) })));
    opened.push(server);
    expect(await (await fetch(`${server.address}/odd`)).text()).toBe(long);
    expect(await requestTwice(() => fetch(upstream.address))).toMatch(/whole .*HTTP\/1\.1 404/s);
  });
});

describe("a response that could not be sent", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("is written to the log of the application, with the id of its request", async () => {
    const stderr = vi.spyOn(console, "error").mockReturnValue();
    const app = createTestApp({ echo: compiledRoute("POST /echo", (request) => new Response(request.body)) });
    const log = vi.spyOn(requireInternals(app, "the test").log, "error").mockReturnValue();
    const server = await listen(node(app));
    const chunk = `100000\r\n${"x".repeat(1024 * 1024)}\r\n`;
    const head = "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nX-Request-Id: echo-1\r\n\r\n";
    await sendBytes(server.address, `${head}${chunk.repeat(3)}0\r\n\r\n`);
    const err = expect.objectContaining({ message: expect.stringContaining("The maximum is 1 MB") });
    await expect.poll(() => log.mock.calls).toEqual([[{ id: "echo-1", err }, "A response could not be sent"]]);
    expect(stderr).not.toHaveBeenCalled();
    await server.close();
  });

  it("is one short line on standard error for a Fetch handler, which has no log", async () => {
    const stderr = vi.spyOn(console, "error").mockReturnValue();
    const fail = () => Promise.reject(new Error(`first\nsecond ${"x".repeat(1000)}`));
    const server = await listen(node({ fetch: fail }));
    expect((await fetch(server.address)).status).toBe(500);
    expect(stderr.mock.calls).toEqual([[expect.stringMatching(/^A response could not be sent: first second x{187}$/)]]);
    await server.close();
  });
});

describe("a request with another transfer coding than chunked", () => {
  it.each([
    ["gzip, chunked", "/__web/rpc/x", 501],
    ["GZIP,chunked", "/", 501],
    ["identity, chunked", "/", 501],
    ["Chunked", "/", 404],
  ])("is answered with 501 and closed, and its body is not read: %s", async (coding, path, status) => {
    const server = await listen(node(createTestApp({ home: compiledPage("/home", () => "home") })));
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: ${coding}\r\nConnection: close\r\n\r\n`;
    const { text } = await sendBytes(server.address, `${head}1\r\nx\r\n0\r\n\r\n`);
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*\r\nConnection: close\r\n`, "i"));
    expect(text.includes('"validation_error"')).toBe(path.includes("rpc"));
    await server.close();
  });
});

describe("a request with very many headers", () => {
  const filler = (count: number) => Array.from({ length: count }, () => "a: b\r\n").join("");
  /** Sends a request whose last header is that of a proxy. */
  const send = async (server: Server, count: number, path = "/") => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo; // it listens on a port
    const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n`;
    return parseResponse(
      await sendBytes(`http://127.0.0.1:${port}`, `${head}${filler(count)}X-Forwarded-For: 1.2.3.4\r\n\r\n`),
    );
  };
  const app = () => node({ fetch: async ({ headers }) => new Response(headers.get("x-forwarded-for")) });

  it.each([
    ["a server of your own", () => createServer(app())],
    ["the server of tsweb serve", () => createServer(serverOptions(process.versions), app())],
  ])("is never handled without one of them: %s", async (_, create) => {
    expect(await send(create(), 996)).toMatchObject({ status: 200, body: expect.stringContaining("1.2.3.4") });
    expect((await send(create(), 997)).status).toBe(431);
    expect((await send(create(), 2_000)).status).toBe(431);
  });

  it("is rejected where the server keeps fewer of them", async () => {
    const server = createServer(app());
    server.maxHeadersCount = 50;
    expect((await send(server, 60)).status).toBe(431);
  });

  it("gets the error body of a call and ids", async () => {
    const { headers, body } = await send(createServer(app()), 997, "/__web/rpc/add");
    expect(JSON.parse(body).error.code).toBe("validation_error");
    expect(headers["x-request-id"]).toMatch(/^[0-9a-f]{32}$/);
  });
});
