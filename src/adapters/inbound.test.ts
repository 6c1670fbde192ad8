import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { NodeInbound } from "./inbound.ts";

/** A request whose body has arrived so far. */
function incoming(headers: Record<string, string>, ...parts: (string | Buffer | null)[]) {
  const message = new IncomingMessage(new Socket());
  message.method = "POST";
  Object.assign(message.headers, headers);
  for (const part of parts) message.push(part);
  return { message, request: new NodeInbound(message, new ServerResponse(message)) };
}

/** A request with these lines of headers, as Node's parser leaves them. */
function asked(target: string, lines: readonly (readonly [string, string])[]) {
  const message = new IncomingMessage(new Socket());
  message.method = "POST";
  message.url = target;
  message.rawHeaders = lines.flat();
  // Without types: it is the parser's own, which decides what of two lines of a name is kept.
  for (const [name, value] of lines)
    Reflect.apply(Reflect.get(message, "_addHeaderLine"), message, [name, value, message.headers]);
  return new NodeInbound(message, new ServerResponse(message));
}

describe("a header", () => {
  it.each(["content-type", "origin", "cookie", "x-csrf-token", "x-forwarded-for", "sec-fetch-site"])(
    "%s is what the Fetch standard has, come once, twice or not at all",
    (name) => {
      const lines = [[name, "1"] as const, [name.toUpperCase(), "2"] as const];
      for (const some of [[], lines.slice(0, 1), lines]) {
        expect(asked("/", [["host", "shop.example"], ...some]).header(name)).toBe(
          new Headers(some.map(([key, value]) => [key, value])).get(name),
        );
      }
    },
  );
});

describe("an address", () => {
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
    "/%61",
    "/a/",
    "/a\tb",
    "/a?/../c",
  ])("%s has the path that URL gives it", (target) => {
    const { pathname, url } = asked(target, [host]);
    expect(pathname).toBe(new URL(`http://shop.example${target}`).pathname);
    expect(url.pathname).toBe(pathname);
  });

  it("has the origin of the host that was asked for, each its own", () => {
    const hosts = [
      "shop.example:80",
      "SHOP.example",
      "shop.example:3000",
      "[::1]:3000",
      "shop.example:80",
      "localhost",
    ];
    const origins = hosts.map((name) => asked("/", [["host", name]]).origin);
    expect(origins).toEqual(hosts.map((name) => new URL(`http://${name}`).origin));
  });

  it("has of another path or query the same origin", () => {
    expect(asked("/a?b=http://other.example", [host]).origin).toBe("http://shop.example");
    expect(asked("/@other.example/", [host]).origin).toBe("http://shop.example");
  });
});

describe("a body that has arrived", () => {
  it("is given at once, of the length that was declared, in however many parts", () => {
    expect(incoming({ "content-length": "5" }, "hello").request.arrived()).toBe("hello");
    expect(incoming({ "content-length": "5" }, "he", "llo", null).request.arrived()).toBe("hello");
  });

  it("counts bytes, and a letter may lie across two parts", () => {
    const [first, second] = [Buffer.from("é").subarray(0, 1), Buffer.from("é").subarray(1)];
    expect(incoming({ "content-length": "2" }, first, second).request.arrived()).toBe("é");
    expect(incoming({ "content-length": "1" }, "é").request.arrived()).toBeNull();
  });

  it("is waited for while some of it is missing, and can still be read", async () => {
    const { message, request } = incoming({ "content-length": "5" }, "hell");
    expect(request.arrived()).toBeNull();
    message.push("o");
    message.push(null);
    expect(await request.request.text()).toBe("hello");
  });

  it.each([{}, { "transfer-encoding": "chunked" }, { "content-length": "x" }])("is waited for with %j", (headers) => {
    expect(incoming(headers, "hello").request.arrived()).toBeNull();
  });

  it("is waited for when it is empty: there is nothing to be gained", () => {
    expect(incoming({ "content-length": "0" }, null).request.arrived()).toBeNull();
  });

  it("is given once", () => {
    const { request } = incoming({ "content-length": "5" }, "hello");
    expect([request.arrived(), request.arrived()]).toEqual(["hello", null]);
  });
});
