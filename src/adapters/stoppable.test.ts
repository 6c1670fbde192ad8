import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import express from "express";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { blockEventLoop } from "#test/block-event-loop";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { callBytes, readToEnd, readUntil } from "#test/raw-http";
import type { App } from "../app.ts";
import { Connections } from "./connections.ts";
import { node } from "./node.ts";
import { prepareStop, type StopTimes, stoppable } from "./stoppable.ts";

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** The calls that {@link module} has not released yet, by name. */
const waiting = new Map<string, () => void>();
const started: string[] = [];
const ended: string[] = [];
const wait = (name: string) => {
  started.push(name);
  return new Promise<void>((resolve) => waiting.set(name, resolve));
};

const module = {
  home: compiledPage("/", () => "Home"),
  slow: compiledServer("slow", async () => {
    await wait("slow");
    return "completed";
  }),
  numbers: compiledServer(
    "numbers",
    async function* () {
      try {
        yield 1;
        await wait("numbers");
        yield 2;
      } finally {
        ended.push("numbers");
      }
    },
    { stream: true },
  ),
  report: compiledRoute("GET /reports/:id", async () => {
    await wait("report");
    return new Response("report");
  }),
};

const servers: Server[] = [];
let log: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  log = vi.spyOn(console, "error").mockReturnValue();
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
  vi.restoreAllMocks();
  waiting.clear();
  started.length = ended.length = 0;
});

interface Started {
  readonly app: App;
  readonly server: Server;
  readonly stop: (times: StopTimes) => Promise<{ readonly cut: number }>;
  open(): Promise<Socket>;
}

/** Serves the application, or a handler in front of it. */
async function start(
  handlerOf: (app: App) => (request: IncomingMessage, response: ServerResponse) => void = node,
): Promise<Started> {
  const app = createTestApp(module);
  const server = createServer(handlerOf(app));
  const { stop } = prepareStop(server, app);
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const open = async () => {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1"); // it listens on a port
    await once(socket, "connect");
    return socket;
  };
  return { app, server, stop, open };
}

/** Sends a request, and returns the text of its response, which ends with a pattern. */
async function exchange(socket: Socket, bytes: string, end: RegExp): Promise<string> {
  const received = readUntil(socket, end);
  socket.write(bytes);
  return received;
}

/** More than any test takes: the drain lasts as long as the test. */
const LONG = { drainSeconds: 600, stopSeconds: 0 };

it("answers /readyz with 503 during the drain, and accepts requests on new and open connections", async () => {
  const { stop, open } = await start();
  const earlier = await open();
  await exchange(earlier, GET("/"), /Home/);
  void stop(LONG);
  for (const socket of [earlier, await open()]) {
    expect(await exchange(socket, GET("/readyz"), /false/)).toContain("HTTP/1.1 503 ");
    expect(await exchange(socket, GET("/"), /Home/)).toContain("HTTP/1.1 200 OK");
    // A proxy that had to open a new connection for each request would have some that wait when the port closes.
    expect(await exchange(socket, GET("/"), /Home/)).not.toContain("Connection: close");
  }
});

it("sends Connection: close after the port was closed, and then ends each connection", async () => {
  const { server, stop, open } = await start();
  const [used, slow] = [await open(), await open()];
  const response = readToEnd(slow);
  slow.write(callBytes("slow"));
  await expect.poll(() => waiting.has("slow")).toBe(true);
  await exchange(used, GET("/"), /Home/);
  const stopped = stop({ drainSeconds: 1, stopSeconds: 600 });
  const closed = once(used, "close");
  for (let text = ""; !text.includes("Connection: close"); ) {
    const wasListening = server.listening;
    text = await exchange(used, GET("/healthz"), /"ok"\}$/);
    if (!wasListening) expect(text).toContain("Connection: close");
  }
  expect(server.listening).toBe(false);
  await closed;
  waiting.get("slow")?.();
  expect((await response).text).toMatch(/Connection: close\r\n\r\n\{"result":"completed"\}$/);
  expect(await stopped).toEqual({ cut: 0 });
});

it("closes a connection only after it was silent for the whole drain", async () => {
  const { stop, open } = await start();
  const [silent, unused, streaming] = [await open(), await open(), await open()];
  await exchange(silent, GET("/"), /Home/);
  const response = readToEnd(streaming);
  streaming.write(callBytes("numbers"));
  await expect.poll(() => waiting.has("numbers")).toBe(true);
  const order: string[] = [];
  for (const [name, socket] of Object.entries({ silent, unused, streaming })) {
    socket.resume().once("close", () => order.push(name));
  }
  const stopped = stop({ drainSeconds: 0.5, stopSeconds: 600 });
  await expect.poll(() => order.length, { timeout: 20_000 }).toBe(2);
  const endedAt = performance.now();
  waiting.get("numbers")?.();
  expect((await response).text).toContain('{"done":true}');
  // Its headers were sent before the port was closed: a proxy may use the connection again.
  expect((await response).text).not.toContain("Connection: close");
  expect(performance.now() - endedAt).toBeGreaterThanOrEqual(500);
  expect(order).toEqual([...order.slice(0, 2), "streaming"]);
  expect(await stopped).toEqual({ cut: 0 });
});

it("reads what clients have sent while the event loop was blocked, before it closes silent connections", async () => {
  const { server, stop, open } = await start();
  const socket = await open();
  const { closeSilent } = Connections.prototype;
  const check = vi.spyOn(Connections.prototype, "closeSilent");
  server.once("request", (_request: IncomingMessage, response: ServerResponse) => {
    response.once("finish", () => {
      check.mockImplementationOnce(closeSilent); // notes that the connection is silent
      // The timer of the next check runs late, before the event loop reads what was sent.
      check.mockImplementationOnce(function (this: Connections, ms) {
        socket.write(GET("/"));
        blockEventLoop(700); // longer than the drain
        closeSilent.call(this, ms);
      });
    });
  });
  const received = readUntil(socket, /Home/);
  socket.write(callBytes("numbers"));
  await expect.poll(() => waiting.has("numbers")).toBe(true);
  const stopped = stop({ drainSeconds: 0.5, stopSeconds: 600 });
  await expect.poll(() => server.listening, { timeout: 20_000 }).toBe(false);
  waiting.get("numbers")?.();
  expect(await received).toMatch(/"done":true[\s\S]*HTTP\/1\.1 200 OK/);
  expect(await stopped).toEqual({ cut: 0 });
});

it("cuts off what has not ended in time, streams too, and logs each route with its number", async () => {
  const { stop, open } = await start();
  const sockets = await Promise.all([open(), open(), open(), open()]);
  const requests = [callBytes("slow"), callBytes("slow"), callBytes("numbers"), GET("/reports/7?token=secret")];
  for (const [at, socket] of sockets.entries()) socket.on("error", () => undefined).write(requests[at] ?? "");
  await expect.poll(() => started.toSorted()).toEqual(["numbers", "report", "slow", "slow"]);
  expect(await stop({ drainSeconds: 0, stopSeconds: 0.1 })).toEqual({ cut: 4 });
  const lines = log.mock.calls.map((call: unknown[]) => call.map((each) => JSON.stringify(each)).join(" "));
  for (const route of ["call slow", "stream numbers", "route /reports/:id"]) {
    expect(lines.filter((line: string) => line.includes(route))).toHaveLength(1);
  }
  expect(lines.join()).toContain("WEB_STOP_SECONDS");
  expect(lines.join()).not.toContain("secret");
  waiting.get("numbers")?.();
  await expect.poll(() => ended).toEqual(["numbers"]);
});

it("drains the routes of Express in the same server too", async () => {
  const { stop, open } = await start((app) => {
    const site = express();
    site.get("/own", async (_request, response) => {
      await wait("own");
      response.send("own");
    });
    site.use(node(app));
    return site;
  });
  const socket = await open();
  const response = readToEnd(socket);
  socket.write(GET("/own"));
  await expect.poll(() => waiting.has("own")).toBe(true);
  const stopped = stop({ drainSeconds: 0, stopSeconds: 600 });
  waiting.get("own")?.();
  expect((await response).text).toMatch(/200 OK.*own$/s);
  expect(await stopped).toEqual({ cut: 0 });
});

/** Starts a server with HTTP/2, and connects to it. */
async function openHttp2() {
  const app = createTestApp(module);
  const server = createHttp2Server(node(app) as never); // Node's compatibility layer passes classes of its own
  const { stop } = prepareStop(server, app);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return { session, stop };
}

it("sends GOAWAY to clients with HTTP/2, and completes their requests", async () => {
  const { session, stop } = await openHttp2();
  const headers = { ":method": "POST", ":path": "/__web/rpc/slow", "content-type": "application/json" };
  const stream = session.request(headers);
  stream.end('{"args":{}}');
  await expect.poll(() => waiting.has("slow")).toBe(true);
  const goaway = once(session, "goaway");
  const stopped = stop({ drainSeconds: 0, stopSeconds: 600 });
  await goaway;
  waiting.get("slow")?.();
  expect(String(await once(stream, "data"))).toBe('{"result":"completed"}');
  expect(await stopped).toEqual({ cut: 0 });
});

it("cuts off requests with HTTP/2 that have not ended in time", async () => {
  const { session, stop } = await openHttp2();
  session.on("error", () => undefined);
  const stream = session.request({ ":path": "/reports/7" }).on("error", () => undefined);
  await expect.poll(() => waiting.has("report")).toBe(true);
  expect(await stop({ drainSeconds: 0, stopSeconds: 0.1 })).toEqual({ cut: 1 });
  stream.destroy();
});

it("stops with the times of the configuration, once", async () => {
  const app = createTestApp(module);
  const server = createServer(node(app));
  const stop = stoppable(server, app);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const [first, second] = [stop(), stop()];
  expect(first).toBe(second);
  expect(await first).toEqual({ cut: 0 });
  expect(server.listening).toBe(false);
});

it("rejects a value that is not an App", () => {
  expect(() => stoppable(createServer(), {} as App)).toThrow("stoppable() received a value that is not an App");
});
