import { once } from "node:events";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { type LocalServer, listen } from "#test/listen";
import { openSocket, readUntil } from "#test/raw-http";
import { request } from "../http/index.ts";
import { node } from "./node.ts";
import { NodeInboundRequest } from "./node-inbound-request.ts";

/** Returns a request whose body has arrived so far. */
function requestWithBody(headers: Record<string, string>, ...parts: (string | Buffer | null)[]) {
  const message = new IncomingMessage(new Socket());
  message.method = "POST";
  Object.assign(message.headers, headers);
  for (const part of parts) message.push(part);
  return { message, inbound: new NodeInboundRequest(message, new ServerResponse(message)) };
}

/** Returns a request with these header lines, as Node's parser builds it. */
function requestWithHeaders(target: string, lines: readonly (readonly [string, string])[]) {
  const message = new IncomingMessage(new Socket());
  message.method = "POST";
  message.url = target;
  message.rawHeaders = lines.flat();
  // The parser's own method decides which of two lines of a name is kept. Node's types do not have it.
  for (const [name, value] of lines)
    Reflect.apply(Reflect.get(message, "_addHeaderLine"), message, [name, value, message.headers]);
  return new NodeInboundRequest(message, new ServerResponse(message));
}

describe("header()", () => {
  it.each([
    ...["content-type", "origin", "cookie", "x-csrf-token", "x-forwarded-for", "sec-fetch-site"],
    ...["if-modified-since", "if-none-match", "authorization", "referer", "user-agent", "age", "location"],
  ])("returns %s as the Fetch standard does, whether it was sent once, twice or not at all", (name) => {
    const lines = [[name, "1"] as const, [name.toUpperCase(), "2"] as const];
    for (const sent of [[], lines.slice(0, 1), lines]) {
      const expected = new Headers(sent.map(([key, value]) => [key, value])).get(name);
      const inbound = requestWithHeaders("/", [["host", "shop.example"], ...sent]);
      expect(inbound.header(name)).toBe(expected);
      expect(inbound.headers.get(name)).toBe(expected);
    }
  });
});

describe("url and pathname", () => {
  const host = ["host", "shop.example:80"] as const;

  it.each([
    "/",
    "/__web/rpc/echo",
    "/__web/rpc/echo?a=1?b",
    "/__web/rpc/echo#part",
    "/a/../b",
    "/a/%2e%2e/b",
    "/a//b",
    "/a b",
    "/ä",
    "/a\\b",
    "/.",
    "/a.js",
    "/assets/app-1a2b.js",
    "/a..",
    "/.a",
    "/..a/b",
    "/a/.",
    "/a/..",
    "/a/.b",
    "/%61",
    "/a/",
    "/a\tb",
    "/a?/../c",
  ])("of %s are those of URL", (target) => {
    const { pathname, url } = requestWithHeaders(target, [host]);
    expect(pathname).toBe(new URL(`http://shop.example${target}`).pathname);
    expect(url.pathname).toBe(pathname);
  });
});

describe("origin", () => {
  it("is that of the requested host, also when hosts alternate", () => {
    const hosts = [
      "shop.example:80",
      "SHOP.example",
      "shop.example:3000",
      "[::1]:3000",
      "shop.example:80",
      "localhost",
    ];
    const origins = hosts.map((name) => requestWithHeaders("/", [["host", name]]).origin);
    expect(origins).toEqual(hosts.map((name) => new URL(`http://${name}`).origin));
  });

  it.each([
    [undefined, "http:"],
    [false, "http:"], // as Bun has it
    [true, "https:"],
  ])("has the scheme of a socket whose property encrypted is %s", (encrypted, scheme) => {
    const socket = new Socket();
    if (encrypted !== undefined) Object.assign(socket, { encrypted });
    const message = new IncomingMessage(socket);
    Object.assign(message, { url: "/", headers: { host: "scheme.example" } });
    const inbound = new NodeInboundRequest(message, new ServerResponse(message));
    expect(inbound.origin).toBe(`${scheme}//scheme.example`);
    expect(inbound.url.protocol).toBe(scheme);
  });

  it("does not depend on path and query", () => {
    const host = ["host", "shop.example:80"] as const;
    expect(requestWithHeaders("/a?b=http://other.example", [host]).origin).toBe("http://shop.example");
    expect(requestWithHeaders("/@other.example/", [host]).origin).toBe("http://shop.example");
  });
});

describe("bufferedBody()", () => {
  it("returns a body of the declared length, in however many parts it arrived", () => {
    expect(requestWithBody({ "content-length": "5" }, "hello").inbound.bufferedBody()).toBe("hello");
    expect(requestWithBody({ "content-length": "5" }, "he", "llo", null).inbound.bufferedBody()).toBe("hello");
  });

  it("counts bytes, and decodes a character that lies across two parts", () => {
    const [first, second] = [Buffer.from("é").subarray(0, 1), Buffer.from("é").subarray(1)];
    expect(requestWithBody({ "content-length": "2" }, first, second).inbound.bufferedBody()).toBe("é");
    expect(requestWithBody({ "content-length": "1" }, "é").inbound.bufferedBody()).toBeNull();
  });

  it("returns null while a part is missing, and the body can still be read", async () => {
    const { message, inbound } = requestWithBody({ "content-length": "5" }, "hell");
    expect(inbound.bufferedBody()).toBeNull();
    message.push("o");
    message.push(null);
    expect(await inbound.request.text()).toBe("hello");
  });

  it.each([{}, { "transfer-encoding": "chunked" }, { "content-length": "x" }])(
    "returns null without a declared length: %j",
    (headers) => {
      expect(requestWithBody(headers, "hello").inbound.bufferedBody()).toBeNull();
    },
  );

  it("returns null for an empty body", () => {
    expect(requestWithBody({ "content-length": "0" }, null).inbound.bufferedBody()).toBeNull();
  });

  it("returns the body once", () => {
    const { inbound } = requestWithBody({ "content-length": "5" }, "hello");
    expect([inbound.bufferedBody(), inbound.bufferedBody()]).toEqual(["hello", null]);
  });
});

let server: LocalServer | undefined;
afterEach(() => server?.close());

/** Sends bytes to a server, and returns its request and response, and the connection. */
async function receive(bytes: string) {
  let received: { message: IncomingMessage; response: ServerResponse; inbound: NodeInboundRequest } | undefined;
  server = await listen((message, response) => {
    received = { message, response, inbound: new NodeInboundRequest(message, response) };
  });
  const client = await openSocket(server.address);
  client.write(bytes);
  while (!received) await setImmediate();
  return { ...received, client };
}

const HEAD = "POST /echo?a=1 HTTP/1.1\r\nHost: shop.example\r\nX-Two: 1\r\nX-Two: 2\r\n";

/** Returns a counter that throws over a number of bytes. */
function countTo(maxBytes: number) {
  let size = 0;
  return (bytes: number) => {
    size += bytes;
    if (size > maxBytes) throw new Error(`over ${maxBytes}`);
  };
}

describe("readText()", () => {
  it("returns a body that arrives in parts, without creating a Fetch Request", async () => {
    const { inbound, client } = await receive(`${HEAD}Content-Length: 6\r\n\r\nhell`);
    expect(inbound.bodyUsed).toBe(false);
    const text = inbound.readText(countTo(100));
    client.write(Buffer.from("é"));
    expect(await text).toBe("hellé");
    client.destroy();
  });

  it("returns a chunked body, and rejects with the error of the counter", async () => {
    const chunked = `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`;
    const first = await receive(chunked);
    expect(await first.inbound.readText(countTo(5))).toBe("hello");
    first.client.destroy();
    await server?.close();
    const second = await receive(chunked);
    await expect(second.inbound.readText(countTo(4))).rejects.toThrow("over 4");
    second.client.destroy();
  });

  it("removes a byte order mark, as Request.text() does", async () => {
    const { inbound, client } = await receive(`${HEAD}Content-Length: 5\r\n\r\n`);
    client.write(Buffer.from("\ufeffhi"));
    expect(await inbound.readText(countTo(100))).toBe("hi");
    client.destroy();
  });

  it("reads the Fetch Request once that was created, and rejects when its body was read", async () => {
    const { inbound, client } = await receive(`${HEAD}Content-Length: 5\r\n\r\nhello`);
    expect(await inbound.request.clone().text()).toBe("hello");
    expect(await inbound.readText(countTo(100))).toBe("hello");
    expect(inbound.bodyUsed).toBe(true);
    await expect(inbound.readText(countTo(100))).rejects.toThrow(TypeError);
    client.destroy();
  });

  it("rejects when the connection closes before the end of the body", async () => {
    const { inbound, client } = await receive(`${HEAD}Content-Length: 5\r\n\r\nhe`);
    const text = inbound.readText(countTo(100));
    client.resetAndDestroy();
    await expect(text).rejects.toThrow();
  });
});

describe("request", () => {
  it("has method, URL, headers and body", async () => {
    const { inbound, client } = await receive(`${HEAD}Content-Length: 5\r\n\r\nhello`);
    const { request } = inbound;
    expect(request).toBeInstanceOf(Request);
    expect([request.method, request.url]).toEqual(["POST", "http://shop.example/echo?a=1"]);
    expect(request.headers.get("x-two")).toBe("1, 2");
    expect(await request.text()).toBe("hello");
    client.destroy();
  });

  it("has no body for GET, HEAD and requests that declare none", async () => {
    const { inbound, client } = await receive(`${HEAD}\r\n`);
    expect(inbound.request.body).toBeNull();
    expect(await inbound.request.text()).toBe("");
    client.destroy();
    expect(requestWithBody({}, null).inbound.request.body).toBeNull();
  });

  it("reads its body only as fast as it is consumed", async () => {
    const length = 64 * 1024 * 1024;
    const { inbound, message, client } = await receive(`${HEAD}Content-Length: ${length}\r\n\r\n`);
    const { body } = inbound.request;
    client.write(Buffer.alloc(length));
    await once(message, "readable");
    expect(message.readableFlowing).toBeFalsy();
    const reader = body?.getReader();
    await reader?.read();
    for (let i = 0; i < 20; i++) await setImmediate();
    expect(client.writableLength).toBeGreaterThan(0);
    client.destroy();
  });

  it("fails to read a body whose connection closes before its end", async () => {
    const { inbound, client } = await receive(`${HEAD}Content-Length: 5\r\n\r\nhe`);
    const text = inbound.request.text();
    client.resetAndDestroy();
    await expect(text).rejects.toThrow();
    await expect(inbound.request.text()).rejects.toThrow();
  });

  it("can still receive a response after its body was cancelled", async () => {
    const { inbound, response, client } = await receive(`${HEAD}Content-Length: 5\r\n\r\nhe`);
    const reader = inbound.request.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    response.end("sent");
    client.write("llo");
    const [data] = await once(client, "data");
    expect(String(data)).toMatch(/sent/);
    client.destroy();
  });

  it("ignores events of its body that a runtime emits after the body was cancelled", async () => {
    const { message, inbound } = requestWithBody({ "transfer-encoding": "chunked" }, "first");
    vi.spyOn(message, "off").mockReturnThis(); // the listeners are called once more, as in one burst of events
    const reader = inbound.request.body?.getReader();
    expect(String(Buffer.from((await reader?.read())?.value ?? []))).toBe("first");
    await reader?.cancel();
    expect(() => message.emit("data", Buffer.from("late"))).not.toThrow();
    expect(() => message.emit("end")).not.toThrow();
  });

  it.each(["Content-Length: 900000", "Transfer-Encoding: chunked"])(
    "does not delay the next request on its connection if only a part of its body (%s) was read",
    async (header) => {
      server = await listen(async (message, response) => {
        if (message.method === "GET") return void response.end("next");
        const { body } = new NodeInboundRequest(message, response).request;
        await body?.getReader().read();
        response.end("first");
      });
      const client = await openSocket(server.address);
      const body = "x".repeat(900_000);
      const chunk = header.startsWith("T") ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
      client.write(`${HEAD}${header}\r\n\r\n${chunk}GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n`);
      expect(await readUntil(client, /next/)).toMatch(/first/);
      client.destroy();
    },
  );
});

describe("signal", () => {
  it("aborts when the connection closes before the response was written", () => {
    const { message } = requestWithBody({});
    const response = new ServerResponse(message);
    const inbound = new NodeInboundRequest(message, response);
    expect(inbound.signal.aborted).toBe(false);
    response.emit("close");
    expect([inbound.signal.aborted, inbound.request.signal.aborted]).toEqual([true, true]);
  });

  it("does not abort when the response was written", () => {
    const { message } = requestWithBody({});
    const response = new ServerResponse(message);
    const { signal } = new NodeInboundRequest(message, response);
    response.end();
    response.emit("close");
    expect(signal.aborted).toBe(false);
  });

  it("is aborted from the start when the connection has closed already", () => {
    const { message } = requestWithBody({});
    const response = new ServerResponse(message);
    response.destroy();
    expect(new NodeInboundRequest(message, response).signal.aborted).toBe(true);
  });

  const CALL = "Content-Type: application/json\r\nContent-Length: 11\r\n\r\n";

  it.each([
    ["a page", "GET /page HTTP/1.1", "\r\n"],
    ["a route", "GET /route HTTP/1.1", "\r\n"],
    ["a call", "POST /__web/rpc/call HTTP/1.1", `${CALL}{"args":{}}`],
    ["a stream", "POST /__web/rpc/stream HTTP/1.1", `${CALL}{"args":{}}`],
  ])("of %s calls its listeners in the context of the request, and the server goes on", async (_, line, rest) => {
    const users: unknown[] = [];
    const errors: unknown[] = [];
    let started = () => undefined as unknown;
    const starting = new Promise<void>((resolve) => {
      started = resolve;
    });
    /** Waits until the client has disconnected. An error of a listener ends a process. */
    const work = async () => {
      const aborted = new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      request.signal.addEventListener("abort", () => {
        try {
          users.push(request.cookies.user);
        } catch (error) {
          errors.push(error);
        }
      });
      started();
      await aborted;
    };
    const app = createTestApp({
      home: compiledPage("/", () => "Home"),
      page: compiledPage("/page", async () => String(await work())),
      route: compiledRoute("GET /route", async () => new Response(String(await work()))),
      call: compiledServer("call", work),
      stream: compiledServer(
        "stream",
        async function* () {
          yield 1;
          await work();
        },
        { stream: true },
      ),
    });
    server = await listen(node(app));
    const client = await openSocket(server.address);
    client.write(`${line}\r\nHost: ${new URL(server.address).host}\r\nCookie: user=ada\r\n${rest}`);
    await starting;
    client.destroy();
    await expect.poll(() => [users, errors]).toEqual([["ada"], []]);
    expect((await fetch(server.address)).status).toBe(200);
  });
});
