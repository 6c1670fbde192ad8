import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { listen } from "#test/listen";
import { type Functions, rejectionOf, Shop } from "#test/shop";
import { client, RPCError } from "./index.ts";

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
beforeEach(() => shop.reset());
afterAll(() => shop.close());

/** Signs in without a client and returns the cookie. */
async function cookieOf(name: string): Promise<string> {
  const { headers } = await fetch(`${shop.address}/__web/rpc/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ args: { name } }),
  });
  return headers.getSetCookie()[0]?.split(";")[0] ?? "";
}

describe("the session of a client", () => {
  it("stays signed in until it signs out", async () => {
    const api = client<Functions>(shop.address);
    await api.login("ada");
    expect(await api.whoami()).toBe("ada");
    expect(await client<Functions>(shop.address).whoami()).toBeNull();
    await api.logout();
    expect(await api.whoami()).toBeNull();
  });

  it("can start with a cookie from the options", async () => {
    const api = client<Functions>(shop.address, { headers: { Cookie: await cookieOf("grace") } });
    expect(await api.whoami()).toBe("grace");
    await api.login("ada");
    expect(await api.whoami()).toBe("ada");
  });

  it("uses the CSRF token of the response that signed in", async () => {
    const api = client<Functions>(shop.address);
    await api.login.named({ name: "ada" });
    expect(await api.secret()).toBe("for members");
    expect(shop.requests).toEqual(["POST login", "POST secret"]);
  });

  it("repeats a call once with the CSRF token of its 403 response, and keeps the token", async () => {
    const api = client<Functions>(shop.address, { headers: { cookie: await cookieOf("ada") } });
    expect(await api.secret()).toBe("for members");
    expect(await api.secret()).toBe("for members");
    expect(shop.requests).toEqual(["POST login", "POST secret", "POST secret", "POST secret"]);
  });

  it("does not repeat a call twice if no token is accepted", async () => {
    const methods: unknown[] = [];
    const fake = await listen(({ method }, response) => {
      methods.push(method);
      response.writeHead(403, { "content-type": "application/json", "x-csrf-token": "fresh" });
      response.end('{"error":{"code":"forbidden","message":"No.","details":{}}}');
    });
    expect(await rejectionOf(client<Functions>(fake.address).secret())).toMatchObject({ code: "forbidden" });
    expect(methods).toEqual(["POST", "POST"]);
    await fake.close();
  });
});

describe("the options of a client", () => {
  it("send the headers with every request", async () => {
    const seen: unknown[] = [];
    const fake = await listen((request, response) => {
      seen.push([request.method, request.headers["x-service"], request.headers["content-type"]]);
      if (request.method === "GET") {
        response
          .writeHead(405)
          .end('{"error":{"code":"validation_error","message":"","details":{"parameters":["a"]}}}');
      } else response.end('{"result":1}');
    });
    const api = client<Functions>(fake.address, { headers: { "X-Service": "billing", "content-type": "text/plain" } });
    expect(await api.add(1)).toBe(1);
    expect(seen).toEqual([
      ["GET", "billing", "text/plain"],
      ["POST", "billing", "application/json"],
    ]);
    await fake.close();
  });

  it("end a call after the timeout", async () => {
    const error = await rejectionOf(client<Functions>(shop.address, { timeout: 0.05 }).hang());
    expect(error).toMatchObject({ code: "timeout", cause: expect.anything() });
  });

  it("apply the timeout to the request for parameter names too", async () => {
    const fake = await listen(() => undefined);
    expect(await rejectionOf(client<Functions>(fake.address, { timeout: 0.05 }).add(1))).toMatchObject({
      code: "timeout",
    });
    await fake.close();
  });

  it("do not apply the timeout to streams", async () => {
    const api = client<Functions>(shop.address, { timeout: 0.02 });
    const stream = api.slow();
    const reading = stream[Symbol.asyncIterator]();
    expect(await reading.next()).toEqual({ done: false, value: 1 });
    const second = reading.next();
    // Meanwhile the timeout of a later call expires.
    expect(await rejectionOf(api.hang())).toMatchObject({ code: "timeout" });
    stream.cancel();
    expect(await second).toEqual({ done: true, value: undefined });
  });

  it("end current and later calls when the signal aborts", async () => {
    const stop = new AbortController();
    const api = client<Functions>(shop.address, { signal: stop.signal });
    const waiting = rejectionOf(api.hang());
    // A request of an earlier test, which its time limit has ended, may arrive late.
    await expect.poll(() => shop.requests).toContain("POST hang");
    stop.abort();
    const error = await waiting;
    expect(error).toBeInstanceOf(RPCError);
    expect(error).toMatchObject({ code: "internal", message: expect.stringContaining("signal") });
    expect(await rejectionOf(api.whoami())).toMatchObject({ message: expect.stringContaining("signal") });
    expect(shop.requests).not.toContain("POST whoami");
  });

  it.each([
    "",
    "shop.example",
    "ftp://shop.example",
    "http://a:b@shop.example",
    "http://shop.example/?q",
    "http://x/#y",
  ])("reject the invalid address %j", (address) => {
    expect(() => client(address)).toThrow(TypeError);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("reject the invalid timeout %d", (timeout) => {
    expect(() => client(shop.address, { timeout })).toThrow("timeout");
  });
});
