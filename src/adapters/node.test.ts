import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import { appOf, compiledPage, compiledRoute, compiledServer } from "#test/compiled";
import { listen } from "#test/listen";
import { exchange } from "#test/raw";
import { node } from "./index.ts";

describe("mounting an application that was not built", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("says in the log that its pages come without scripts", () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    node(appOf({ home: compiledPage("/", () => "Home") }));
    expect(log.mock.calls).toEqual([[expect.stringContaining("Run tsweb build, and mount dist/app.mjs instead.")]]);
  });

  it("says nothing where there are no pages, or somebody else gives it", () => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    node(appOf({ add: compiledServer("add", () => 1) }));
    node({ fetch: () => new Response() });
    expect(log).not.toHaveBeenCalled();
  });
});

describe("an answer of a route", () => {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    vi.restoreAllMocks();
    for (const each of opened.splice(0)) await each.close();
  });

  /** Serves a route, and gives what comes back of it and of a request after it on one connection. */
  async function askTwice(answer: () => Response | Promise<Response>): Promise<string> {
    const server = await listen(node(appOf({ odd: compiledRoute("GET /odd", answer) })));
    opened.push(server);
    const request = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
    return (await exchange(server.address, request("/odd"), request("/next", "Connection: close\r\n"))).text;
  }

  const INJECTED = "HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\ninjected";

  it.each([
    ["longer than it says, in pieces", ["four", INJECTED], "4"],
    ["longer than it says, in one piece", [`four${INJECTED}`], "4"],
    ["shorter than it says", ["four"], "400"],
  ])("that is %s is broken off: nothing of it is read as the next one", async (_, pieces, length) => {
    const log = vi.spyOn(console, "error").mockReturnValue();
    const text = await askTwice(() => {
      const left = pieces.map((piece) => new TextEncoder().encode(piece));
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const piece = left.shift();
          if (piece) controller.enqueue(piece);
          else controller.close();
        },
      });
      return new Response(body, { headers: { "content-length": length } });
    });
    expect(text).not.toContain("injected");
    expect(text).not.toContain("404");
    expect(String(log.mock.calls)).toContain("An answer could not be sent.");
  });

  it("that another server gave compressed arrives whole", async () => {
    const long = "whole ".repeat(1000);
    const other = await listen((_, answer) => {
      const bytes = gzipSync(long);
      answer.writeHead(200, { "content-encoding": "gzip", "content-length": bytes.length }).end(bytes);
    });
    opened.push(other);
    const server = await listen(node(appOf({ odd: compiledRoute("GET /odd", () => fetch(other.address)) })));
    opened.push(server);
    expect(await (await fetch(`${server.address}/odd`)).text()).toBe(long);
    expect(await askTwice(() => fetch(other.address))).toMatch(/whole .*HTTP\/1\.1 404/s);
  });
});
