import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { blockEventLoop } from "#test/block-event-loop";
import { openSocket, readUntil } from "#test/raw-http";
import { Connections } from "../connections.ts";
import { announceKeepAlive, watchIdleConnections } from "./keep-alive.ts";

/** Times that tests can wait for. */
const TIMES = { idleMs: 300, checkMs: 20 };

const REQUEST = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

let server: Server;
let connections: Connections;
let end: () => void;
const sockets: Socket[] = [];

async function start(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<void> {
  server = createServer({ keepAliveTimeout: 0 }, announceKeepAlive(handle));
  connections = new Connections(server);
  end = watchIdleConnections(connections, TIMES);
  await once(server.listen(0, "127.0.0.1"), "listening");
}

async function open(): Promise<Socket> {
  const { port } = server.address() as AddressInfo; // it listens on a port
  const socket = await openSocket(`http://127.0.0.1:${port}`);
  sockets.push(socket);
  return socket;
}

afterEach(() => {
  end();
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
});

/** Resolves with the time until a connection was closed, in ms. */
async function closedAfter(socket: Socket): Promise<number> {
  const from = performance.now();
  socket.resume();
  await once(socket, "close");
  return performance.now() - from;
}

it("tells clients how long a connection may be idle", async () => {
  await start((_, response) => response.end("done"));
  const socket = await open();
  socket.write(REQUEST);
  expect(await readUntil(socket, /done$/)).toContain("\r\nKeep-Alive: timeout=65\r\n");
});

it("closes a connection that is idle after a response, not before the time is over", async () => {
  await start((_, response) => response.end("done"));
  const socket = await open();
  socket.write(REQUEST);
  await readUntil(socket, /done$/);
  expect(await closedAfter(socket)).toBeGreaterThanOrEqual(TIMES.idleMs - TIMES.checkMs);
});

it("closes a connection on which nothing was ever sent", async () => {
  await start((_, response) => response.end("done"));
  expect(await closedAfter(await open())).toBeGreaterThanOrEqual(TIMES.idleMs - TIMES.checkMs);
});

it("keeps a connection open whose requests are less than the time apart", async () => {
  await start((_, response) => response.end("done"));
  const [idle, busy] = [await open(), await open()];
  let isIdleClosed = false;
  idle.resume().once("close", () => {
    isIdleClosed = true;
  });
  for (let count = 0; count === 0 || !isIdleClosed; count++) {
    busy.write(REQUEST);
    await readUntil(busy, /done$/);
  }
  expect(busy.destroyed).toBe(false);
});

it("keeps a connection open while its request is handled, however long that takes", async () => {
  let answer = () => {};
  await start((_, response) => {
    answer = () => void response.end("done");
  });
  const [slow, idle] = [await open(), await open()];
  slow.write(REQUEST);
  await closedAfter(idle); // the time is over
  await closedAfter(await open()); // and once more
  answer();
  expect(await readUntil(slow, /done$/)).toContain("200 OK");
});

it("keeps a connection open whose request arrived while the event loop was blocked", async () => {
  let count = 0;
  await start((_, response) => response.end(`done ${++count}`));
  const socket = await open();
  socket.write(REQUEST);
  await readUntil(socket, /done 1$/);
  const closeSilent = connections.closeSilent.bind(connections);
  const check = vi.spyOn(connections, "closeSilent");
  await expect.poll(() => check.mock.calls.length).toBeGreaterThan(1); // the connection is known to be silent
  const received = readUntil(socket, /done 2$/);
  // The timer of the next check runs late, before the event loop reads what was sent.
  check.mockImplementationOnce((ms) => {
    socket.write(REQUEST);
    blockEventLoop(2 * TIMES.idleMs);
    closeSilent(ms);
  });
  expect(await received).toContain("200 OK");
});

it("does not keep the process running", async () => {
  await start((_, response) => response.end("done"));
  const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const endSecond = watchIdleConnections(new Connections(createServer()), TIMES);
  expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout")).toHaveLength(timers);
  endSecond();
});
