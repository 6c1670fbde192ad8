import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { listen } from "#test/listen";
import { openSocket, readToEnd } from "#test/raw-http";
import { EDITS_PATH } from "./dev-assets.ts";
import { allowOnlyLoopback, countEdits } from "./dev-requests.ts";

describe("allowOnlyLoopback", () => {
  const statusFor = async (host: string, allowed?: true | readonly string[]) => {
    const server = await listen(allowOnlyLoopback(allowed, (_request, response) => response.end("the application")));
    try {
      return await statusOf(server.address, host);
    } finally {
      await server.close();
    }
  };

  it.each([
    "localhost",
    "localhost:3000",
    "LOCALHOST",
    "localhost.",
    "shop.localhost:3000",
    "127.0.0.1",
    "127.8.9.1:3000",
    "[::1]",
    "[::1]:3000",
  ])("serves the loopback host %s", async (host) => {
    expect(await statusFor(host)).toBe(200);
  });

  it.each([
    "evil.example",
    "evil.example:3000",
    "localhost.evil.example",
    "notlocalhost",
    "127.0.0.1.evil.example",
    "127.0.0.1.nip.io",
    "127.1",
    "0.0.0.0",
    "[::2]",
    "[::ffff:127.0.0.1]",
    "10.0.0.1",
    "localhost:3000:80",
    "",
  ])("rejects the host %j, although the connection is local", async (host) => {
    expect(await statusFor(host)).toBe(403);
  });

  it("serves the hosts that the project's Vite config allows", async () => {
    expect(await statusFor("dev.shop.example", ["dev.shop.example"])).toBe(200);
    expect(await statusFor("a.dev.shop.example", ["dev.shop.example"])).toBe(403);
    expect(await statusFor("shop.example", [".shop.example"])).toBe(200);
    expect(await statusFor("a.b.shop.example", [".shop.example"])).toBe(200);
    expect(await statusFor("myshop.example", [".shop.example"])).toBe(403);
    expect(await statusFor("anything.example", true)).toBe(200);
  });
});

describe("countEdits", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("responds with the number of edits, and a + until Vite must have noticed the last one", async () => {
    const edits = new EventEmitter();
    const handle = countEdits(edits, (_request, response) => response.end("the application"));
    const server = await listen(handle);
    const count = async () => (await fetch(server.address + EDITS_PATH)).text();
    expect(await count()).toBe("0");
    edits.emit("all");
    edits.emit("all");
    expect(await count()).toBe("2+");
    vi.advanceTimersByTime(499);
    expect(await count()).toBe("2+");
    vi.advanceTimersByTime(1);
    expect(await count()).toBe("2");
    expect(await (await fetch(`${server.address}/`)).text()).toBe("the application");
    await server.close();
  });
});

async function statusOf(address: string, host: string): Promise<number> {
  const socket = await openSocket(address);
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const { text } = await readToEnd(socket);
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
}
