import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { listen } from "#test/listen";
import { sendBytes } from "#test/raw-http";
import { requireInternals } from "../server/index.ts";
import { node } from "./index.ts";

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
  ])("whose headers Node rejects ends its connection: headers %s", async (_, hostHeaders, expected) => {
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
