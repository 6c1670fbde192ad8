/**
 * The time limits of uploads over real connections: Node's `requestTimeout` does not end an upload, and ends everything
 * else.
 */
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { node } from "./node.ts";
import { answerRejectedRequests } from "./rejected-requests.ts";

const options = { max_body: 2_000_000 };
const app = createTestApp(
  {
    upload: compiledServer("upload", (file: File) => file.size, {
      params: { file: { type: "any", files: "one" } },
      options,
    }),
    large: compiledRoute("POST /large", options, async (request) => new Response(await request.text())),
    small: compiledRoute("POST /small", async (request) => new Response(await request.text())),
  },
  { rate: false },
);

/** How long a request may take here, and how often Node checks it. */
const REQUEST_TIMEOUT_MS = 300;
const server = createServer(
  { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: 50 },
  node(app),
);
answerRejectedRequests(server, "");
let port: number;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port; // a string for pipes only
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const PART =
  '--XX\r\nContent-Disposition: form-data; name="__args"\r\n\r\n{}\r\n--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
const END = "\r\n--XX--\r\n";

/** Sends the head of a request with a body of this length. */
function open(path: string, length: number): { socket: Socket; received: () => string } {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (data) => {
    text += data;
  });
  socket.on("error", () => undefined); // the server may reset the connection
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Type: multipart/form-data; boundary=XX\r\n` +
      `Content-Length: ${length}\r\n\r\n`,
  );
  return { socket, received: () => text };
}

/** Sends bytes for longer than the request timeout, piece by piece. */
async function sendSlowly(socket: Socket, pieces: number): Promise<void> {
  for (let piece = 0; piece < pieces; piece++) {
    socket.write("x".repeat(1000));
    await sleep((3 * REQUEST_TIMEOUT_MS) / pieces);
  }
}

describe("a request that takes longer than the requestTimeout of the server", () => {
  it("is completed if it is an upload to a function", async () => {
    const { socket, received } = open("/__web/form/upload", PART.length + 10_000 + END.length);
    socket.write(PART);
    await sendSlowly(socket, 10);
    socket.write(END);
    await vi.waitFor(() => expect(received()).toContain('{"result":10000}'), 30_000);
    socket.destroy();
  });

  it("is completed if it goes to a route with more than 1 MiB", async () => {
    const { socket, received } = open("/large", 10_000);
    await sendSlowly(socket, 10);
    await vi.waitFor(() => expect(received()).toContain("x".repeat(10_000)), 30_000);
    socket.destroy();
  });

  it.each(["/small", "/__web/rpc/upload"])(
    "is ended with 408 or closed if it is any other: %s [REQUEST-38]",
    async (path) => {
      const { socket, received } = open(path, 10_000);
      const closed = new Promise((resolve) => socket.once("close", resolve));
      await sendSlowly(socket, 5);
      await closed;
      expect(received()).toMatch(/^HTTP\/1\.1 (408|415) /);
    },
  );

  it("is ended after an upload on the same connection [REQUEST-39]", async () => {
    const { socket, received } = open("/__web/form/upload", PART.length + 10 + END.length);
    socket.write(`${PART}0123456789${END}`);
    await vi.waitFor(() => expect(received()).toContain('{"result":10}'), 30_000);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write("POST /small HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000\r\n\r\n");
    await sendSlowly(socket, 5);
    await closed;
    expect(received()).toContain("HTTP/1.1 408 ");
  });
});

describe("an upload that is too slow", () => {
  it("is ended with 408 after 30 seconds without a byte [REQUEST-36]", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      const { socket, received } = open("/__web/form/upload", 100_000);
      socket.write(PART);
      const isWaiting = () => vi.getTimerCount() > 0;
      while (!isWaiting()) await new Promise(setImmediate);
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate); // the part arrives
      await vi.advanceTimersByTimeAsync(29_900);
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
      expect(received()).toBe("");
      await vi.advanceTimersByTimeAsync(10_000);
      while (received() === "") await new Promise(setImmediate);
      expect(received()).toMatch(/^HTTP\/1\.1 408 /);
      expect(received()).toContain("arrived too slowly");
      socket.destroy();
    } finally {
      vi.useRealTimers();
    }
  });
});
