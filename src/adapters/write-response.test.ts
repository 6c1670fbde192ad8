import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { isFast } from "./fast/index.ts";
import { writeResponse } from "./write-response.ts";

/** How often Node writes to a connection for such a response: since Node 24 once, also without the fast way. */
const WRITES = isFast("writes") || Number.parseInt(process.versions.node, 10) >= 24 ? 1 : 2;

describe("a response whose body is a text", () => {
  const opened: Server[] = [];
  afterEach(() => {
    for (const server of opened.splice(0)) server.close();
  });

  /** Serves a text once. Returns what was written to the connection, and what the client received. */
  async function serveText(body: string) {
    const writes: unknown[] = [];
    const server = createServer((_, response) => {
      void writeResponse({ status: 200, headers: ["content-type", "text/plain"], body }, response);
    });
    opened.push(server);
    server.on("connection", (socket: Socket) => {
      const write = socket.write.bind(socket) as (...args: unknown[]) => boolean; // it has several signatures
      vi.spyOn(socket, "write").mockImplementation((...args: unknown[]) => {
        writes.push(args.slice(0, 2));
        return write(...args);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`); // it listens on a port
    return { writes, length: response.headers.get("content-length"), text: await response.text() };
  }

  it.each([
    ["ASCII is not converted to UTF-8", '{"result":"plain"}', isFast("writes") ? "latin1" : "utf8"],
    ["other text is sent as UTF-8", '{"result":"Grüße, 世界 🌍, \u0080"}', "utf8"],
  ])("is written in one write with the headers: %s", async (_, body, encoding) => {
    const { writes, length, text } = await serveText(body);
    expect(writes).toHaveLength(WRITES);
    expect(writes[0]).toEqual([expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n/s), encoding]);
    expect(writes[0]).toEqual([expect.stringContaining(`\r\n\r\n${body}`), encoding]);
    expect({ length, text }).toEqual({ length: String(Buffer.byteLength(body)), text: body });
  });

  it.each(["a", "ß", "世", "🌍", "\ud800", "\udc00a", "\0"])(
    "is sent as its UTF-8 at every length: %j",
    async (unit) => {
      for (const length of [1, 1023, 1024, 5000, 43_690, 43_691, 64 * 1024, 128 * 1024]) {
        const body = unit.repeat(length).slice(0, length);
        const { writes, length: declared, text } = await serveText(body);
        const bytes = Buffer.from(body);
        expect([length, declared]).toEqual([length, String(bytes.length)]);
        expect(text === bytes.toString()).toBe(true);
        if (length < 128 * 1024) expect(writes).toHaveLength(WRITES);
      }
    },
  );

  it("of a page is its own while others are written", async () => {
    const bodies = ["ä", "€", "b"].map((unit) => unit.repeat(60_000));
    const server = createServer(({ url }, response) => {
      void writeResponse({ status: 200, headers: [], body: bodies[Number(url?.slice(1))] ?? "" }, response);
    });
    opened.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // it listens on a port
    const received = await Promise.all(
      Array.from({ length: 60 }, async (_, at) => (await fetch(`http://127.0.0.1:${port}/${at % 3}`)).text()),
    );
    expect(received.every((text, at) => text === bodies[at % 3])).toBe(true);
  });

  it("does not count as sent if its connection was destroyed before", async () => {
    const events: string[] = [];
    const server = createServer((_, response) => {
      for (const event of ["finish", "close"]) response.on(event, () => events.push(event));
      response.socket?.destroy();
      void writeResponse({ status: 200, headers: [], body: "text" }, response);
    });
    opened.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    await expect(fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).rejects.toThrow("fetch failed");
    await expect.poll(() => events).toEqual(["close"]);
  });

  it("is sent completely if it does not fit into the buffers of the connection", async () => {
    const body = "0123456789abcdeß".repeat(512 * 1024);
    const { length, text } = await serveText(body);
    expect(length).toBe(String(Buffer.byteLength(body)));
    expect(text === body).toBe(true);
  });
});
