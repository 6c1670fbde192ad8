import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { compiledPage, createTestApp } from "#test/compiled-app";
import { type LocalServer, listen } from "#test/listen";
import { node } from "./node.ts";
import { destroyIfDisconnected, destroyIfStalled } from "./stalled-clients.ts";

/** A busy machine may stop the test, which is the client too, for some 100 ms. */
const STALL_MS = 600;
const CHUNK = Buffer.alloc(64 * 1024, "x");

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** Opens a connection to a server whose only response is written by the test. The client reads nothing yet. */
async function openResponse(): Promise<{ client: Socket; response: ServerResponse }> {
  let server: LocalServer | undefined;
  const response = new Promise<ServerResponse>((resolve, reject) => {
    listen((_request, response) => resolve(response)).then((listening) => {
      server = listening;
      opened.push(listening);
      const client = connect(Number(new URL(listening.address).port), "127.0.0.1");
      client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
      client.on("error", () => undefined); // some of these tests wait for the reset
      opened.push({ close: () => client.destroy() });
      clients.push(client);
    }, reject);
  });
  const clients: Socket[] = [];
  const opening = await response;
  const [client] = clients;
  if (!client || !server) throw new Error("There is no connection");
  destroyIfDisconnected(opening, STALL_MS);
  return { client, response: opening };
}

/** Writes until the system buffers no more, so that the rest waits in this process. */
async function fillBuffers(response: ServerResponse): Promise<void> {
  for (let waited = 0; waited < 20; waited++) {
    if (response.writableLength === 0) waited = 0;
    if (response.writableLength === 0) response.write(CHUNK);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

describe("a streamed response", () => {
  it("is destroyed when its client reads none of the waiting bytes", async () => {
    const { response } = await openResponse();
    await fillBuffers(response);
    const startedAt = performance.now();
    await once(response, "close");
    expect(response.destroyed).toBe(true);
    expect(performance.now() - startedAt).toBeGreaterThan(STALL_MS * 0.9);
  });

  it("is not destroyed when its client reads slowly", async () => {
    const { client, response } = await openResponse();
    const length = 24 * 1024 * 1024;
    response.writeHead(200, { "content-length": length });
    response.end(Buffer.alloc(length)); // one write, which completes only when all of it was sent
    let received = 0;
    const startedAt = performance.now();
    while (received < length && !client.destroyed) {
      const due = (length * (performance.now() - startedAt)) / (STALL_MS * 2.5);
      const chunk: Buffer | null = received < due ? client.read() : null;
      if (chunk) received += chunk.length;
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    expect(received).toBeGreaterThan(length); // and its headers
    expect(performance.now() - startedAt).toBeGreaterThan(STALL_MS * 2);
  });

  it("is not destroyed when no bytes wait for its client", async () => {
    const { client, response } = await openResponse();
    response.write("first");
    await once(response, "timeout");
    response.end("last");
    let text = "";
    for await (const part of client.setEncoding("utf8")) {
      text += part;
      if (text.endsWith("last\r\n0\r\n\r\n")) break;
    }
    expect(text).toMatch(/first/);
  });

  it("is destroyed when its client reads nothing that was written after a silence", async () => {
    const { response } = await openResponse();
    response.write("first");
    await once(response, "timeout");
    await fillBuffers(response);
    await once(response, "close");
    expect(response.destroyed).toBe(true);
  });

  // Only Linux shows the timers of a connection, in /proc. CI runs on Linux, so the test always runs there.
  it.runIf(process.platform === "linux")("has its connection probed by TCP keep-alive while it is silent", async () => {
    const { client, response } = await openResponse();
    response.write("first");
    await once(client, "readable");
    expect(timerOf(response.socket?.localPort, response.socket?.remotePort)).toBe("02");
  });
});

describe("a buffered response", () => {
  /** Requests a page of this size with a client that reads nothing, and returns the response once it was written. */
  async function writtenResponse(characters: number): Promise<ServerResponse> {
    const handle = node(createTestApp({ only: compiledPage("/", () => "x".repeat(characters)) }));
    const written = new Promise<ServerResponse>((resolve) => {
      void listen((request, response) => {
        response.once("prefinish", () => setImmediate(resolve, response));
        handle(request, response);
      }).then((server) => {
        opened.push(server);
        const client = connect(Number(new URL(server.address).port), "127.0.0.1").pause();
        client.on("error", () => undefined); // reset
        client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        opened.push({ close: () => client.destroy() });
      });
    });
    return written;
  }

  const LARGE = 16 * 1024 * 1024; // more than the system buffers for a connection

  it("waits 30 seconds for a client that reads nothing of it, and no longer", async () => {
    const response = await writtenResponse(LARGE);
    expect(response.writableLength).toBeGreaterThan(0);
    expect(response.socket?.timeout).toBe(30_000);
    expect(response.listenerCount("timeout")).toBe(1);
  });

  it("is destroyed with its connection, which frees its memory", async () => {
    const response = await writtenResponse(LARGE);
    destroyIfStalled(response, STALL_MS);
    const { socket } = response;
    await once(response, "close");
    expect(socket?.destroyed).toBe(true);
  });

  it("has no timeout when all of it is in the system's buffers", async () => {
    const response = await writtenResponse(100);
    expect(response.listenerCount("timeout")).toBe(0);
  });
});

/** Returns the code of the timer that the system runs for a connection: `02` is keep-alive. @see proc(5), /proc/net/tcp */
function timerOf(local: number | undefined, remote: number | undefined): string | undefined {
  const hex = (port = 0) => `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  for (const line of readFileSync("/proc/net/tcp", "utf8").split("\n")) {
    const [, from, to, , , timer] = line.trim().split(/\s+/);
    if (from?.endsWith(hex(local)) && to?.endsWith(hex(remote))) return timer?.split(":")[0];
  }
  return undefined;
}
