import { beforeEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledServer, createTestApp } from "#test/compiled-app";

const app = createTestApp({ home: compiledPage("/", () => "home"), ping: compiledServer("ping", () => "pong") });

let logError: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  logError = vi.spyOn(console, "error").mockImplementation(() => undefined);
});

/** Returns a request as a runtime passes it: unlike the constructor of `Request`, runtimes do not check the URL. */
function runtimeRequest(url: string, host: string | null): Request {
  const headers = new Headers(host === null ? {} : { host });
  const valid = new Request("http://localhost/", { headers });
  return new Proxy(valid, {
    get: (target, name) => (name === "url" ? url : Reflect.get(target, name, target)),
  });
}

describe("app.fetch", () => {
  it.each([
    ["/rooms?token=x", "/rooms", "http://localhost/rooms"],
    ["rooms", "rooms", "http://localhost/rooms"],
    [new URL("http://shop.example/rooms?token=x"), "http://shop.example/rooms", "http://shop.example/rooms"],
  ])("logs how to create a Request if it receives the URL %s", async (url, received, created) => {
    const response = await Reflect.apply(app.fetch, undefined, [url]); // TypeScript rejects it
    expect(response.status).toBe(500);
    expect(logError.mock.calls.map(String).join("\n")).toContain(
      `app.fetch takes a Request, and received the URL "${received}". Write app.fetch(new Request("${created}")).`,
    );
    expect(logError.mock.calls.map(String).join("\n")).not.toContain("token");
  });

  it.each([
    ["Bun", "/", "a b"],
    ["Bun", "/", "a/__web/rpc/ping?"],
    ["Bun", "/", "a@b"],
    ["Bun", "/", ""],
    ["Bun", "http://a/", "a, b"],
    ["Bun", "http://[::1/", "[::1"],
    ["Bun", "http://x:99999/", "x:99999"],
    ["Deno", "http://a b/", "a b"],
    ["Deno", "http://a/__web/rpc/ping?/", "a/__web/rpc/ping?"],
    ["Deno", "http://a/x/", "a/x"],
    ["Deno", "http://a#b/", "a#b"],
    ["Deno", "http://a\\b/", "a\\b"],
    ["Deno", "http://user@b/", "user@b"],
    ["Deno", "http://localhost:3000/", ""],
    ["Deno", "http://localhost:3000/", "é"],
    ["a runtime without a Host header", "http://a b/", null],
    ["a runtime without a Host header", "nothing", null],
  ])("responds with 400 to a request of %s with the URL %j and the Host %j [SITE-29]", async (_, url, host) => {
    const response = await app.fetch(runtimeRequest(url, host));
    expect(response.status).toBe(400);
    // The error body of calls, for what looks like the path of one.
    const message = "Bad request: the URL cannot be read.";
    const isCall = url.includes("/__web/rpc/");
    const text = await response.text();
    if (isCall) expect(JSON.parse(text)).toEqual({ error: { code: "validation_error", message, details: {} } });
    else expect(text).toBe(`${message}\n`);
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
    expect(response.headers.get("traceparent")).toMatch(/^00-/);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("connection")).toBe("close");
  });

  it.each(["/x/../", "/x/%2e%2e/", "/.", "/\\", "/x\\..\\", "/#x", "/a#/../"])(
    "responds with 400 to the target %s, which Deno passes as it was sent",
    async (target) => {
      expect((await app.fetch(runtimeRequest(`http://shop.example${target}`, "shop.example"))).status).toBe(400);
    },
  );

  it("accepts a request of HTTP/1.0 without a host, of which Bun passes only the path", async () => {
    expect((await app.fetch(runtimeRequest("/?a=/../#b", null))).status).toBe(200);
  });

  it("accepts a fragment of a request that was created in this process", async () => {
    expect((await app.fetch(new Request("http://shop.example/#part/../x"))).status).toBe(200);
  });

  it("resolves with 500 and logs the error if the request cannot be read at all", async () => {
    const broken = new Proxy(new Request("http://shop.example/"), {
      get() {
        throw new Error("broken request");
      },
    });
    const response = await app.fetch(broken);
    expect([response.status, await response.text()]).toEqual([500, ""]);
    expect(String(logError.mock.lastCall)).toContain("broken request");
  });

  it("counts clients apart if addresses are passed, and as one if the host passes an object of its own", async () => {
    const limited = createTestApp({ ping: compiledServer("ping", () => 1) }, { rate: { calls: 1, seconds: 60 } });
    const call = async (info: unknown) => {
      const request = new Request("http://shop.example/__web/rpc/ping", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"args":{}}',
      });
      return (await Reflect.apply(limited.fetch, undefined, [request, info])).status;
    };
    expect(await call({ address: "192.0.2.1" })).toBe(200);
    expect(await call({ address: "192.0.2.2" })).toBe(200);
    expect(await call({ address: "192.0.2.1" })).toBe(429);
    expect(await call({ requestIP: () => null })).toBe(200);
    expect(await call({ requestIP: () => null })).toBe(429);
    expect(logError.mock.calls.map(String).join("\n")).toContain("Bun passes its own");
  });
});
