import { once } from "node:events";
import { type ClientHttp2Session, connect, createServer, type IncomingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { request } from "../http/index.ts";
import { type NodeHandler, node } from "./node.ts";

const opened: { close(): unknown }[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const each of opened.splice(0).reverse()) each.close();
});

/** Serves a module with HTTP/2, and connects to it. */
function openSession(module: Readonly<Record<string, unknown>>): Promise<ClientHttp2Session> {
  return openSessionOf(node(createTestApp(module)));
}

async function openSessionOf(handler: NodeHandler): Promise<ClientHttp2Session> {
  // Node's compatibility layer passes its own classes, which have the methods that the adapter uses.
  const server = createServer(handler as never).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on a port
  const session = connect(`http://127.0.0.1:${port}`).on("error", () => undefined);
  opened.push(server, { close: () => session.destroy() });
  return session;
}

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Whether the server has aborted the response. */
  readonly isAborted: boolean;
}

/** Sends a request, and reads its response to the end. */
function send(session: ClientHttp2Session, headers: Record<string, string>, body?: string): Promise<Received> {
  const stream = session.request(headers, { endStream: body === undefined });
  let received: IncomingHttpHeaders = {};
  let text = "";
  let isAborted = false;
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  stream.on("response", (responseHeaders) => {
    received = responseHeaders;
  });
  stream.on("error", () => {
    isAborted = true;
  });
  if (body !== undefined) stream.end(body);
  return new Promise((resolve) => stream.on("close", () => resolve({ headers: received, text, isAborted })));
}

const encoder = new TextEncoder();

describe("HTTP/2 through Node's compatibility layer", () => {
  it.each([
    ["TRACE", "405"],
    ["TRACK", "405"],
    ["track", "405"],
    ["PATCH", "200"],
    ["M-SEARCH", "200"],
    ["FOO", "200"],
  ])("%s of another Fetch handler gets %s, because no Fetch Request can have some methods", async (method, status) => {
    const session = await openSessionOf(node({ fetch: (received) => new Response(received.method) }));
    const { headers, text } = await send(session, { ":method": method, ":path": "/" });
    expect(String(headers[":status"])).toBe(status);
    if (status === "200") expect(text).toBe(method);
  });

  it("serves pages, calls and routes", async () => {
    const session = await openSession({
      home: compiledPage("/", () => "Home"),
      add: compiledServer("add", (a: number, b: number) => a + b, { params: { a: "int", b: "int" } }),
      echo: compiledRoute(
        "POST /echo",
        async (raw) => new Response(`${new URL(raw.url).pathname} ${await raw.text()}`),
      ),
    });
    expect((await send(session, { ":path": "/" })).text).toContain("Home");
    const json = { ":method": "POST", "content-type": "application/json" };
    const call = await send(session, { ":path": "/__web/rpc/add", ...json }, '{"args":{"a":1,"b":2}}');
    expect([call.headers[":status"], call.text]).toEqual([200, '{"result":3}']);
    const route = await send(session, { ":path": "/echo", ":method": "POST" }, "body");
    expect(route).toMatchObject({ text: "/echo body", isAborted: false });
  });

  it("aborts a response whose body fails, so that its client does not take it for complete", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const body = () =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(encoder.encode("part"));
          setTimeout(() => controller.error(new Error("failed")), 20);
        },
      });
    const session = await openSession({ broken: compiledRoute("GET /broken", () => new Response(body())) });
    expect(await send(session, { ":path": "/broken" })).toMatchObject({ text: "part", isAborted: true });
  });

  it("responds with 500 to a response whose headers HTTP/2 forbids", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const respond = () => new Response("text", { headers: { "transfer-encoding": "chunked" } });
    const session = await openSession({ odd: compiledRoute("GET /odd", respond) });
    expect((await send(session, { ":path": "/odd" })).headers[":status"]).toBe(500);
  });

  it("aborts request.signal when the client resets its stream, also when the signal is read later", async () => {
    const aborted: boolean[] = [];
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const wait = async () => {
      await released;
      aborted.push(request.signal.aborted);
      return new Response("late");
    };
    const session = await openSession({ wait: compiledRoute("GET /wait", wait) });
    const stream = session.request({ ":path": "/wait" }).on("error", () => undefined);
    // The server handles frames in order: when it has responded to another request, it has handled those before it.
    const handleFrames = () => send(session, { ":path": "/another" });
    await handleFrames();
    stream.close();
    await handleFrames();
    release();
    await expect.poll(() => aborted).toEqual([true]);
    expect((await send(session, { ":path": "/wait" })).text).toBe("late");
    expect(aborted).toEqual([true, false]);
  });
});
