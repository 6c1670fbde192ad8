/** The time limit of requests on a server that has none of its own, as that of Deno. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { openSocket, readUntil } from "#test/raw-http";
import { exemptFromRequestTimeout, limitArrival } from "./own-time-limit.ts";

const MAX_MS = 200;
const POST = "POST / HTTP/1.1\r\nHost: localhost\r\n";

let server: Server;
const sockets: Socket[] = [];
const drips: NodeJS.Timeout[] = [];

afterEach(() => {
  for (const drip of drips.splice(0)) clearInterval(drip);
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
});

async function start(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<void> {
  server = createServer({ requestTimeout: 0, headersTimeout: 0 }, limitArrival(handle, MAX_MS));
  await once(server.listen(0, "127.0.0.1"), "listening");
}

/** Sends bytes, then `drip` every 20 ms. */
async function send(bytes: string, drip = ""): Promise<Socket> {
  const { port } = server.address() as AddressInfo; // it listens on a port
  const socket = await openSocket(`http://127.0.0.1:${port}`);
  sockets.push(socket);
  socket.on("error", () => undefined).resume();
  socket.write(bytes);
  if (drip !== "") drips.push(setInterval(() => socket.writable && socket.write(drip), 20));
  return socket;
}

describe("a connection whose request has not arrived in time", () => {
  it.each([
    ["a declared length", `${POST}Content-Length: 1000000\r\n\r\nx`, "x"],
    ["chunks", `${POST}Transfer-Encoding: chunked\r\n\r\n`, "1\r\nx\r\n"],
    ["a declared length, of which nothing arrives", `${POST}Content-Length: 1000000\r\n\r\n`, ""],
  ])("is closed if nobody reads its body, with %s, before and after the response", async (_, bytes, drip) => {
    for (const isAnswered of [true, false]) {
      await start((_request, response) => void (isAnswered && response.end("done")));
      const socket = await send(bytes, drip);
      await expect.poll(() => socket.closed).toBe(true);
      server.close();
    }
  });

  it("is closed if its body is read", async () => {
    await start((request) => void request.resume());
    const socket = await send(`${POST}Content-Length: 1000000\r\n\r\n`, "x");
    await expect.poll(() => socket.closed).toBe(true);
  });

  it("stays open while its body has a time limit of its own", async () => {
    await start((request) => {
      exemptFromRequestTimeout(request);
      request.resume();
    });
    const upload = await send(`${POST}Content-Length: 1000000\r\n\r\n`, "x");
    await sleep(3 * MAX_MS);
    expect(upload.closed).toBe(false);
  });
});

describe("a connection whose request has arrived", () => {
  it.each([
    ["has no body", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["has an empty body", `${POST}Content-Length: 0\r\n\r\n`],
    ["has a body", `${POST}Content-Length: 2\r\n\r\nxx`],
    ["has a body in chunks", `${POST}Transfer-Encoding: chunked\r\n\r\n2\r\nxx\r\n0\r\n\r\n`],
  ])("stays open for a long response, and for the next request, if it %s", async (_, bytes) => {
    await start((request, response) => {
      request.resume();
      setTimeout(() => response.end("done"), 3 * MAX_MS);
    });
    const socket = await send(bytes);
    await readUntil(socket, /done$/);
    socket.write(bytes);
    expect(await readUntil(socket, /done$/)).toContain("200 OK");
  });
});
