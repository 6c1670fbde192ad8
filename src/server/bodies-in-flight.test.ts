/** The limit of request bodies in flight, for each kind of request that has a body. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { listen } from "#test/listen";
import { openSocket, readToEnd } from "#test/raw-http";
import { node } from "../adapters/index.ts";
import { MAX_BODY_BYTES_PER_CLIENT } from "../bodies/index.ts";

const MIB = 1024 * 1024;

/** How many bodies of 1 MiB a client can have in flight. */
const AT_LIMIT = MAX_BODY_BYTES_PER_CLIENT / MIB;

afterEach(() => vi.restoreAllMocks());

/** The functions and routes of the test application wait for this promise after they have received the body. */
let finish: () => void = () => undefined;
let finished: Promise<void> = Promise.resolve();
let received = 0;

function waitForFinish(): Promise<void> {
  received++;
  return finished;
}

const readers = {
  text: (request: Request) => request.text(),
  json: (request: Request) => request.json(),
  arrayBuffer: (request: Request) => request.arrayBuffer(),
  formData: (request: Request) => request.formData(),
};

/** Reads the body in the way that the path names, and responds only when the test allows it. */
const read = compiledRoute("POST /read/:how", async (request, { how }) => {
  await readers[how as keyof typeof readers](request);
  await waitForFinish();
  return new Response("read");
});

/** Returns a response body that ends when the test allows it, after `before` has ended. */
function streamUntilFinish(before: () => Promise<unknown>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      await before();
      await waitForFinish();
      controller.close();
    },
  });
}

/** Reads the body, then streams its response. */
const readThenStream = compiledRoute("POST /read-then-stream", async (request) => {
  const text = await request.text();
  return new Response(streamUntilFinish(async () => text));
});

/** Reads the body while it streams its response. */
const readInStream = compiledRoute(
  "POST /read-in-stream",
  (request) => new Response(streamUntilFinish(() => request.text())),
);
const text = compiledRoute("POST /text", () => new Response("text"));
const consumed = compiledRoute("POST /consumed", async () => {
  const response = new Response("consumed");
  await response.text();
  return response;
});
const module = {
  read,
  readThenStream,
  readInStream,
  text,
  consumed,
  home: compiledPage("/", () => "home"),
  hold: compiledServer(
    "hold",
    async (value: string) => {
      await waitForFinish();
      return value.length;
    },
    { params: { value: "any" } },
  ),
  stream: compiledServer(
    "stream",
    async function* (value: string) {
      const wait = waitForFinish();
      yield value.length;
      await wait;
    },
    { params: { value: "any" }, stream: true },
  ),
};

function createApp() {
  received = 0;
  finished = new Promise((resolve) => {
    finish = resolve;
  });
  return createTestApp(module, { rate: false });
}

/** A request with a body of exactly `bytes` bytes. */
interface SizedRequest {
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

const call = (name: string, bytes: number): SizedRequest => {
  const text = JSON.stringify({ args: { value: "" } });
  return {
    path: `/__web/rpc/${name}`,
    type: "application/json",
    text: text.replace('""', JSON.stringify("x".repeat(bytes - text.length))),
  };
};
const toRoute = (name: string, bytes: number): SizedRequest => ({
  path: `/${name}`,
  type: "text/plain",
  text: "x".repeat(bytes),
});
const FORM_HEAD = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n';
const FORM_END = "\r\n--b--\r\n";

const KINDS: readonly (readonly [name: string, sized: (bytes: number) => SizedRequest])[] = [
  ["a call", (bytes) => call("hold", bytes)],
  ["a stream", (bytes) => call("stream", bytes)],
  ["a route that reads text()", (bytes) => ({ path: "/read/text", type: "text/plain", text: "x".repeat(bytes) })],
  ["a route that reads json()", (bytes) => ({ path: "/read/json", type: "a/b", text: `"${"x".repeat(bytes - 2)}"` })],
  [
    "a route that reads arrayBuffer()",
    (bytes) => ({ path: "/read/arrayBuffer", type: "a/b", text: "x".repeat(bytes) }),
  ],
  [
    "a route that reads formData()",
    (bytes) => ({
      path: "/read/formData",
      type: "multipart/form-data; boundary=b",
      text: FORM_HEAD + "x".repeat(bytes - FORM_HEAD.length - FORM_END.length) + FORM_END,
    }),
  ],
  ["a route that reads the body and then streams its response", (bytes) => toRoute("read-then-stream", bytes)],
];

function send(
  app: ReturnType<typeof createApp>,
  { path, type, text }: SizedRequest,
  isDeclared: boolean,
  address = "192.0.2.1",
  signal: AbortSignal | null = null,
) {
  const headers = { "content-type": type, ...(isDeclared ? { "content-length": String(text.length) } : {}) };
  const bytes = new TextEncoder().encode(text);
  const body = isDeclared
    ? bytes
    : new ReadableStream({
        start(controller) {
          for (let i = 0; i < bytes.length; i += 65_536) controller.enqueue(bytes.subarray(i, i + 65_536));
          controller.close();
        },
      });
  // Node requires `duplex` for a stream; its types do not declare it.
  const init = { method: "POST", headers, body, signal, duplex: "half" } as RequestInit;
  return app.fetch(new Request(`http://shop.example${path}`, init), { address });
}

describe.each(KINDS)("the bodies of %s", (_, sized) => {
  it.each([
    ["declared", true],
    ["unknown", false],
  ])("of %s length are limited to 16 MiB in flight for one client [REQUEST-44]", async (_, isDeclared) => {
    const app = createApp();
    const held = Array.from({ length: AT_LIMIT - 1 }, () => send(app, sized(MIB), isDeclared));
    const atLimit = send(app, sized(MIB - 200), isDeclared);
    await vi.waitFor(() => expect(received).toBe(AT_LIMIT), 30_000);
    const above = await send(app, sized(201), isDeclared); // 200 bytes are left
    expect(above.status).toBe(429);
    expect(above.headers.get("retry-after")).toBe("5");
    expect(above.headers.get("connection")).toBe("close");
    const { error } = await above.json();
    expect(error).toMatchObject({ code: "rate_limited", details: { retry_after: 5 } });
    expect(error.message).toContain("16777216 bytes");
    const last = send(app, sized(200), isDeclared);
    const other = send(app, sized(MIB), isDeclared, "192.0.2.2");
    finish();
    for (const pending of [...held, atLimit, last, other]) {
      const response = await pending;
      expect(response.status).toBe(200);
      await response.text();
    }
    expect((await send(app, sized(MIB), isDeclared)).status).toBe(200);
  });
});

it("the bodies of all addresses of an IPv6 /64 network count as those of one client", async () => {
  const app = createApp();
  const route = (bytes: number): SizedRequest => ({ path: "/read/text", type: "a/b", text: "x".repeat(bytes) });
  const held = Array.from({ length: AT_LIMIT }, (_, i) => send(app, route(MIB), true, `2001:db8::${i + 1}`));
  await vi.waitFor(() => expect(received).toBe(AT_LIMIT), 30_000);
  expect((await send(app, route(1), true, "2001:db8::ffff")).status).toBe(429);
  finish();
  for (const pending of held) expect((await pending).status).toBe(200);
});

it("150 connections that each send 1 MB to a raw route hold at most 16 MiB, and the others get 429 [REQUEST-47]", async () => {
  const server = await listen(node(createApp()));
  const head = "POST /read/text HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n";
  const rejected: string[] = [];
  const sockets = await Promise.all(
    Array.from({ length: 150 }, async () => {
      const socket = await openSocket(server.address);
      void readToEnd(socket);
      socket.on("data", (text) => void rejected.push(String(text)));
      socket.write(head + "x".repeat(1000)); // the rest is never sent
      return socket;
    }),
  );
  await vi.waitFor(() => expect(rejected.length).toBe(150 - Math.floor(MAX_BODY_BYTES_PER_CLIENT / 1_000_000)), 30_000);
  for (const text of rejected) expect(text).toMatch(/^HTTP\/1\.1 429 .*"code":"rate_limited"/s);
  for (const socket of sockets) socket.destroy();
  await server.close();
});

it.each([
  ["multipart/form-data; boundary=b", FORM_HEAD],
  ["application/x-www-form-urlencoded", "a="],
])(
  "the texts of forms of the type %s count as they arrive, also if they never end [REQUEST-45]",
  async (type, start) => {
    const server = await listen(node(createApp()));
    const { host, origin } = new URL(server.address);
    const lines = [`Host: ${host}`, `Origin: ${origin}`, `Content-Type: ${type}`, `Content-Length: ${MIB}`];
    const head = `POST /__web/form/hold HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
    const statuses: string[] = [];
    const sockets = await Promise.all(
      Array.from({ length: AT_LIMIT + 4 }, async () => {
        const socket = await openSocket(server.address);
        void readToEnd(socket);
        socket.once("data", (text) => void statuses.push(String(text).slice(0, 12)));
        socket.write(head + start + "x".repeat(MIB - start.length - 1)); // the last byte is never sent
        return socket;
      }),
    );
    await vi.waitFor(() => expect(statuses.length).toBe(4), 30_000);
    expect(new Set(statuses)).toEqual(new Set(["HTTP/1.1 429"]));
    for (const socket of sockets) socket.destroy();
    await server.close();
  },
);

/** Holds as many bodies of streamed responses as one client may have in flight. Returns the responses. */
async function holdStreams(app: ReturnType<typeof createApp>, name: string, isDeclared: boolean, signal?: AbortSignal) {
  const pending = Array.from({ length: AT_LIMIT }, () =>
    send(app, toRoute(name, MIB), isDeclared, "192.0.2.1", signal),
  );
  await vi.waitFor(() => expect(received).toBe(AT_LIMIT), 30_000);
  const responses = await Promise.all(pending);
  expect((await send(app, toRoute("text", 1), true)).status).toBe(429);
  return responses;
}

describe("the bodies of routes with a streamed response", () => {
  it("of unknown length count also if the route reads them after its response has started [REQUEST-46]", async () => {
    const app = createApp();
    vi.spyOn(console, "error").mockReturnValue();
    const held = await holdStreams(app, "read-in-stream", false);
    const above = await send(app, toRoute("read-in-stream", 1), false);
    await expect(above.text()).rejects.toThrow("Too many request bodies at once");
    finish();
    for (const response of held) await response.text();
    expect((await send(app, toRoute("text", MIB), true)).status).toBe(200);
  });

  it("are released when the response body is cancelled", async () => {
    const app = createApp();
    for (const response of await holdStreams(app, "read-then-stream", true)) await response.body?.cancel();
    expect((await send(app, toRoute("text", MIB), true)).status).toBe(200);
  });

  it("are released when the client aborts the request, also if the host does not cancel the response body", async () => {
    const app = createApp();
    const client = new AbortController();
    await holdStreams(app, "read-then-stream", true, client.signal);
    client.abort();
    expect((await send(app, toRoute("text", MIB), true)).status).toBe(200);
  });

  it("are released when a client of the Node adapter disconnects", async () => {
    const server = await listen(node(createApp()));
    const head = `POST /read-then-stream HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${MIB}\r\n\r\n`;
    const sockets = await Promise.all(Array.from({ length: AT_LIMIT }, () => openSocket(server.address)));
    for (const socket of sockets) socket.write(head + "x".repeat(MIB));
    await vi.waitFor(() => expect(received).toBe(AT_LIMIT), 30_000);
    const status = async () => (await fetch(`${server.address}/text`, { method: "POST", body: "x" })).status;
    expect(await status()).toBe(429);
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(async () => expect(await status()).toBe(200), 30_000);
    await server.close();
  });
});

it.each([
  ["with a text that the host does not read", "text", 200],
  ["whose body the route has consumed", "consumed", 500],
])("the body of a request is released after a response %s", async (_, name, status) => {
  const app = createApp();
  vi.spyOn(console, "error").mockReturnValue();
  for (let i = 0; i <= AT_LIMIT; i++) {
    expect((await send(app, toRoute(name, MIB), true)).status).toBe(status);
    await new Promise(setImmediate); // the end of the text is read in advance
  }
});
