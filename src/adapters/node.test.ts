import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { listen } from "#test/listen";
import { sendBytes } from "#test/raw-http";
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
    expect(String(log.mock.calls)).toContain("A response could not be sent.");
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
