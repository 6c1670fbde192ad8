import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { connect as connectTls } from "node:tls";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createCertificate } from "#test/certificate";
import { compiledPage, createTestApp } from "#test/compiled-app";
import { type LocalServer, listen } from "#test/listen";
import { requestContext } from "#test/request-context";
import { currentContext, runInContext } from "../http/index.ts";
import { node } from "./node.ts";
import { closesConnection, destroyIfDisconnected, destroyIfStalled, isClosed } from "./response-end.ts";
import { writeResponse } from "./write-response.ts";

describe("closesConnection", () => {
  it.each([
    [true, ["connection", "close"]],
    [true, ["a", "b", "connection", "close", "c", "d"]],
    [true, ["vary", "connection", "connection", "close"]],
    [false, []],
    [false, ["a", "close"]],
    [false, ["connection", "keep-alive"]],
    [false, ["vary", "connection", "close", "x"]],
  ])("returns %s for the headers %j", (expected, headers) => {
    expect(closesConnection(headers)).toBe(expected);
  });
});

/** A busy machine may stop the test, which is the client too, for some 100 ms. */
const STALL_MS = 600;
const CHUNK = Buffer.alloc(64 * 1024, "x");
/** More than the system buffers for a connection. */
const LARGE = 24 * 1024 * 1024;

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const each of opened.splice(0).reverse()) await each.close();
});

/** A client that reads nothing until the test reads, of one response. */
interface IdleClient {
  readonly response: ServerResponse;
  readonly received: Readable;
  /** Sends what a client may send at any time, and what starts no request. */
  sendNothing(): void;
}

type OpenClient = (port: number) => Pick<IdleClient, "received" | "sendNothing">;

const REQUEST = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/** The servers and their clients, by the name of the protocol. */
const TRANSPORTS: Readonly<Record<string, readonly [(handler: RequestListener) => Server, OpenClient]>> = {
  "HTTP/1.1": [createServer, (port) => clientOf(connect(port, "127.0.0.1"))],
  "HTTP/1.1 with TLS": [
    (handler) => {
      const { keyFile, certificateFile } = createCertificate(mkdtempSync(join(tmpdir(), "tsweb-stalled-")));
      return createTlsServer({ key: readFileSync(keyFile), cert: readFileSync(certificateFile) }, handler);
    },
    (port) => clientOf(connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false })),
  ],
  "HTTP/2": [
    // Node's compatibility layer passes its own classes, which have the methods that the adapter uses.
    (handler) => createHttp2Server(handler as never),
    (port) => {
      const session = connectHttp2(`http://127.0.0.1:${port}`).on("error", () => undefined);
      opened.push({ close: () => session.destroy() });
      const received = session.request({ ":path": "/" }).on("error", () => undefined);
      return { received, sendNothing: () => void session.ping(() => undefined) };
    },
  ],
};

function clientOf(socket: Socket) {
  socket.on("error", () => undefined).write(REQUEST); // some of these tests wait for the reset
  opened.push({ close: () => socket.destroy() });
  return { received: socket, sendNothing: () => void socket.write("\r\n") };
}

/** Writes a response with `writeResponse` to a client that reads nothing, and destroys it if the client is stalled. */
async function writeToIdleClient(transport: string, result: Parameters<typeof writeResponse>[0]): Promise<IdleClient> {
  const [createServerOf, openClient] = TRANSPORTS[transport] ?? [];
  if (!createServerOf || !openClient) throw new Error(`Unknown transport ${transport}`);
  let respond = (_: ServerResponse): void => undefined;
  const responding = new Promise<ServerResponse>((resolve) => {
    respond = resolve;
  });
  const server = createServerOf((_, response) => respond(response)).listen(0, "127.0.0.1");
  opened.push(server);
  await once(server, "listening");
  const client = openClient((server.address() as AddressInfo).port); // it listens on a port
  const response = await responding;
  void writeResponse(result, response);
  destroyIfStalled(response, STALL_MS);
  return { ...client, response };
}

/** Reads a response of `LARGE` bytes in more than twice the time in which a client must read something. */
async function readSlowly({ received, response }: IdleClient): Promise<void> {
  const startedAt = performance.now();
  const elapsed = () => performance.now() - startedAt;
  let length = 0;
  const isDue = () => length < (LARGE * elapsed()) / (STALL_MS * 2.5);
  while (length < LARGE && !received.destroyed && elapsed() < STALL_MS * 60) {
    // All that is due: on a busy machine, the next turn is late.
    while (isDue()) {
      const chunk: Buffer | null = received.read();
      if (!chunk) break;
      length += chunk.length;
    }
    await new Promise((resolve) => (isDue() ? setImmediate(resolve) : setTimeout(resolve, 3)));
  }
  expect(length).toBeGreaterThanOrEqual(LARGE);
  expect(elapsed()).toBeGreaterThan(STALL_MS * 2);
  await expect.poll(() => response.writableFinished || isClosed(response)).toBe(true);
}

describe.each(Object.keys(TRANSPORTS))("a large response with %s", (transport) => {
  const page = () => ({ status: 200, headers: [], body: Buffer.alloc(LARGE) });

  it("is destroyed when its client reads nothing of it and sends bytes that start no request [REQUEST-72]", async () => {
    const { response, sendNothing } = await writeToIdleClient(transport, page());
    const sending = setInterval(sendNothing, STALL_MS / 3);
    await once(response, "close");
    clearInterval(sending);
    expect(isClosed(response)).toBe(true);
  });

  it("is not destroyed when its client reads slowly", async () => {
    await readSlowly(await writeToIdleClient(transport, page()));
  });

  it("of a stream with one long part is not destroyed when its client reads slowly", async () => {
    await readSlowly(await writeToIdleClient(transport, new Response(Buffer.alloc(LARGE))));
  });
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

describe("a large response", () => {
  it("is destroyed when its client reads a byte now and then [REQUEST-93]", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    opened.push(server);
    await once(server, "listening");
    const responding = once(server, "request");
    const readByte = { buffer: Buffer.alloc(1), callback: () => client.pause() !== undefined };
    const { port } = server.address() as AddressInfo; // it listens on a port
    const client: Socket = connect({ port, host: "127.0.0.1", onread: readByte }).on("error", () => undefined);
    client.write(REQUEST);
    const reading = setInterval(() => client.resume(), STALL_MS / 100);
    const [, response]: ServerResponse[] = await responding;
    if (!response) throw new Error("There is no request.");
    void writeResponse({ status: 200, headers: [], body: Buffer.alloc(LARGE) }, response);
    destroyIfStalled(response, STALL_MS);
    await once(response, "close");
    clearInterval(reading);
    client.destroy();
    expect(client.bytesRead).toBeLessThan(LARGE);
  });
});

describe("a streamed response", () => {
  it("is destroyed when its client reads none of the waiting bytes", async () => {
    const { response } = await openResponse();
    const startedAt = performance.now(); // on a busy machine, the client stalls some time before this test notices
    await fillBuffers(response);
    await once(response, "close");
    expect(response.destroyed).toBe(true);
    expect(performance.now() - startedAt).toBeGreaterThan(STALL_MS * 0.9);
  });

  it("is not destroyed when no bytes wait for its client", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { client, response } = await openResponse();
    response.write("first");
    await once(client, "readable"); // Node sends it on the next tick
    vi.advanceTimersByTime(STALL_MS * 10);
    response.end("last");
    let text = "";
    for await (const part of client.setEncoding("utf8")) {
      text += part;
      if (text.endsWith("last\r\n0\r\n\r\n")) break;
    }
    expect(text).toMatch(/first/);
  });

  it("waits the whole time for a client that reads nothing of what was written after a silence, and no longer", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { client, response } = await openResponse();
    response.write("first");
    await once(client, "readable"); // Node sends it on the next tick
    vi.advanceTimersByTime(STALL_MS * 10 - 1);
    await fillBuffers(response);
    vi.advanceTimersByTime(1);
    expect(response.destroyed).toBe(false);
    vi.advanceTimersByTime(STALL_MS - 1);
    expect(response.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(response.destroyed).toBe(true);
  });

  it("has no timer after it was closed", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { client, response } = await openResponse();
    expect(vi.getTimerCount()).toBe(1);
    client.destroy();
    await once(response, "close");
    expect(vi.getTimerCount()).toBe(0);
    destroyIfStalled(response, STALL_MS);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is not watched in the context of a request, which would keep its user in memory", async () => {
    const { response } = await openResponse();
    const context = requestContext();
    const contexts: unknown[] = [];
    const setTimer = globalThis.setInterval;
    vi.spyOn(globalThis, "setInterval").mockImplementation((...parameters: Parameters<typeof setTimer>) => {
      contexts.push(currentContext());
      return setTimer(...parameters);
    });
    runInContext(context, () => {
      expect(currentContext()).toBe(context);
      destroyIfStalled(response);
    });
    expect(contexts).toEqual([undefined]);
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

  it("waits 30 to 60 seconds for a client that reads nothing of it, and no longer [REQUEST-71]", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const response = await writtenResponse(LARGE);
    expect(response.writableLength).toBeGreaterThan(0);
    vi.advanceTimersByTime(29_999);
    expect(response.destroyed).toBe(false);
    vi.advanceTimersByTime(30_001);
    expect(response.destroyed).toBe(true);
  });

  it("is destroyed with its connection, which frees its memory", async () => {
    const response = await writtenResponse(LARGE);
    destroyIfStalled(response, STALL_MS);
    const { socket } = response;
    await once(response, "close");
    expect(socket?.destroyed).toBe(true);
  });

  it("has no timer when all of it is in the system's buffers", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    await writtenResponse(100);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is destroyed when its client reads nothing of it, if it has refused a request whose body had not arrived [REQUEST-73]", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    let client: Socket | undefined;
    const response = await new Promise<ServerResponse>((resolve) => {
      void listen((_, response) => {
        const headers = ["connection", "close", "content-type", "text/html"];
        void writeResponse({ status: 404, headers, body: "x".repeat(LARGE) }, response);
        resolve(response);
      }).then((server) => {
        opened.push(server);
        client = connect(Number(new URL(server.address).port), "127.0.0.1").pause();
        client.on("error", () => undefined); // reset
        client.write("POST /home?__form=nosuch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n");
        opened.push({ close: () => client?.destroy() });
      });
    });
    client?.write("a=1&b");
    await once(response, "prefinish"); // the body has arrived
    vi.advanceTimersByTime(60_000);
    await once(response, "close");
    expect(response.destroyed).toBe(true);
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
