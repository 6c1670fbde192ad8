import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { appOf, compiledPage } from "#test/compiled";
import { type LocalServer, listen } from "#test/listen";
import { node } from "./node.ts";
import { cutUntaken, endUnread } from "./unread.ts";

const MOST_MS = 300;
const PIECE = Buffer.alloc(64 * 1024, "x");

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** Opens a connection to a server whose one answer is written by the test, and reads nothing of it yet. */
async function answering(): Promise<{ client: Socket; response: ServerResponse }> {
  let server: LocalServer | undefined;
  const response = new Promise<ServerResponse>((resolve, reject) => {
    listen((_request, answer) => resolve(answer)).then((listening) => {
      server = listening;
      opened.push(listening);
      const client = connect(Number(new URL(listening.address).port), "127.0.0.1");
      client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
      client.on("error", () => undefined); // cut off, which is what some of these wait for
      opened.push({ close: () => client.destroy() });
      clients.push(client);
    }, reject);
  });
  const clients: Socket[] = [];
  const answer = await response;
  const [client] = clients;
  if (!client || !server) throw new Error("There is no connection");
  endUnread(answer, MOST_MS);
  return { client, response: answer };
}

/** Writes until the system takes no more, and the rest waits in this process. */
async function fill(response: ServerResponse): Promise<void> {
  const turns = 20;
  for (let waited = 0; waited < turns; waited++) {
    if (response.writableLength === 0) waited = 0;
    if (response.writableLength === 0) response.write(PIECE);
    await new Promise((later) => setTimeout(later, 1));
  }
}

describe("a streamed answer", () => {
  it("is ended when its client takes nothing of what waits", async () => {
    const { response } = await answering();
    await fill(response);
    const began = performance.now();
    await once(response, "close");
    expect(response.destroyed).toBe(true);
    expect(performance.now() - began).toBeGreaterThan(MOST_MS * 0.9);
  });

  it("is not ended when its client takes something, however slowly", async () => {
    const { client, response } = await answering();
    const whole = 24 * 1024 * 1024;
    response.writeHead(200, { "content-length": whole });
    response.end(Buffer.alloc(whole)); // one write: no part of it is done before all of it is
    let taken = 0;
    const began = performance.now();
    while (taken < whole && !client.destroyed) {
      const piece: Buffer | null = client.read();
      if (piece) taken += piece.length;
      await new Promise((later) => setTimeout(later, 3));
    }
    expect(taken).toBeGreaterThan(whole); // and its head
    expect(performance.now() - began).toBeGreaterThan(MOST_MS * 2);
  });

  it("is not ended when there is nothing to take", async () => {
    const { client, response } = await answering();
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

  it("is ended when what came after a silence is not taken", async () => {
    const { response } = await answering();
    response.write("first");
    await once(response, "timeout");
    await fill(response);
    await once(response, "close");
    expect(response.destroyed).toBe(true);
  });

  // Linux alone says, in /proc, which timers a connection has.
  it.runIf(process.platform === "linux")("has its connection probed while it is silent", async () => {
    const { client, response } = await answering();
    response.write("first");
    await once(client, "readable");
    expect(timerOf(response.socket?.localPort, response.socket?.remotePort)).toBe("02");
  });
});

describe("a whole answer", () => {
  /** Has a page of this size asked for by a client that reads nothing, and gives its answer once it was written. */
  async function written(characters: number): Promise<ServerResponse> {
    const handle = node(appOf({ only: compiledPage("/", () => "x".repeat(characters)) }));
    const answer = new Promise<ServerResponse>((resolve) => {
      void listen((request, response) => {
        response.once("prefinish", () => setImmediate(resolve, response));
        handle(request, response);
      }).then((server) => {
        opened.push(server);
        const client = connect(Number(new URL(server.address).port), "127.0.0.1").pause();
        client.on("error", () => undefined); // cut off
        client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        opened.push({ close: () => client.destroy() });
      });
    });
    return answer;
  }

  const LARGE = 16 * 1024 * 1024; // more than systems keep for a connection

  it("waits 30 seconds for a client that takes nothing of it, and no longer", async () => {
    const response = await written(LARGE);
    expect(response.writableLength).toBeGreaterThan(0);
    expect(response.socket?.timeout).toBe(30_000);
    expect(response.listenerCount("timeout")).toBe(1);
  });

  it("is ended, and lets go of what waits", async () => {
    const response = await written(LARGE);
    cutUntaken(response, MOST_MS);
    const { socket } = response;
    await once(response, "close");
    expect(socket?.destroyed).toBe(true);
  });

  it("that has left has nobody to wait for", async () => {
    const response = await written(100);
    expect(response.listenerCount("timeout")).toBe(0);
  });
});

/** Reads which timer the system keeps for a connection: 02 is the one of keep-alive. @see proc(5), /proc/net/tcp */
function timerOf(local: number | undefined, remote: number | undefined): string | undefined {
  const hex = (port = 0) => `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  for (const line of readFileSync("/proc/net/tcp", "utf8").split("\n")) {
    const [, from, to, , , timer] = line.trim().split(/\s+/);
    if (from?.endsWith(hex(local)) && to?.endsWith(hex(remote))) return timer?.split(":")[0];
  }
  return undefined;
}
