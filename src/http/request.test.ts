import { describe, expect, it } from "vitest";
import { cookieHeaderOf, requestContext, testConfig } from "#test/request-context";
import { runInContext } from "./context-storage.ts";
import { FetchInboundRequest } from "./inbound-request.ts";
import { isSessionCookie, request } from "./request.ts";
import { RequestContext } from "./request-context.ts";

function contextOf(url: string, init: RequestInit = {}): RequestContext {
  const { config } = requestContext();
  return new RequestContext({
    inbound: new FetchInboundRequest(new Request(url, init)),
    id: "id-1",
    traceparent: "",
    address: "::1",
    config,
  });
}

describe("the request object", () => {
  it("provides path, method, id, and frozen records of query, headers and cookies [REQUEST-84]", () => {
    const init = { method: "HEAD", headers: { "X-Own": "1", cookie: "a=b; __proto__=c; e=%20d" } };
    runInContext(contextOf("http://shop.example/p/a%20b?q=1&q=2&constructor=x", init), () => {
      expect(request.path).toBe("/p/a%20b");
      expect(request.method).toBe("GET");
      expect(request.id).toBe("id-1");
      expect(Object.entries(request.query)).toEqual([
        ["q", "2"],
        ["constructor", "x"],
      ]);
      expect(request.headers["x-own"]).toBe("1");
      expect(Object.entries(request.cookies)).toEqual([
        ["a", "b"],
        ["__proto__", "c"],
        ["e", " d"],
      ]);
      for (const record of [request.query, request.headers, request.cookies]) {
        expect(Object.isFrozen(record)).toBe(true);
        expect(record.toString).toBeUndefined();
        expect(record.hasOwnProperty).toBeUndefined();
      }
    });
  });

  it.each(["path", "method", "query", "headers", "cookies", "id", "signal"] as const)(
    "throws outside a request and names the member: %s",
    (member) => {
      expect(() => request[member]).toThrow(`request.${member} was used outside a request`);
    },
  );
});

describe("request.set_cookie", () => {
  /** Returns the `Set-Cookie` headers of a response during whose request `work` runs. */
  function setCookieHeaders(work: () => void): string[] {
    const context = requestContext();
    runInContext(context, work);
    return [...context.setCookieHeaders];
  }

  it("writes Path, HttpOnly and SameSite=Lax", () => {
    expect(setCookieHeaders(() => request.set_cookie("a", "b"))).toEqual(["a=b; Path=/; HttpOnly; SameSite=Lax"]);
    expect(setCookieHeaders(() => request.set_cookie("a", "b", { max_age: 60 }))).toEqual([
      "a=b; Max-Age=60; Path=/; HttpOnly; SameSite=Lax",
    ]);
    expect(setCookieHeaders(() => request.set_cookie("a", "", { max_age: 0 }))).toEqual([
      "a=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax",
    ]);
  });

  it.each([
    ["1", "a=b; Path=/; HttpOnly; Secure; SameSite=Lax"],
    ["0", "a=b; Path=/; HttpOnly; SameSite=Lax"],
  ])("with WEB_COOKIE_SECURE=%s writes %s [SESSION-43]", (WEB_COOKIE_SECURE, expected) => {
    const context = requestContext(undefined, testConfig({ WEB_COOKIE_SECURE }));
    runInContext(context, () => request.set_cookie("a", "b"));
    expect([...context.setCookieHeaders]).toEqual([expected]);
  });

  it("encodes any text so that the next request reads the same text", () => {
    const value = 'é;, "\\\r\nSet-Cookie: x=y';
    const context = requestContext();
    runInContext(context, () => request.set_cookie("a", value));
    const cookie = cookieHeaderOf(context);
    expect(cookie).toMatch(/^a=[\w%.~!*'()-]+$/);
    expect(runInContext(requestContext(cookie), () => request.cookies.a)).toBe(value);
  });

  it("replaces a cookie of the same name that was set before", () => {
    expect(
      setCookieHeaders(() => {
        request.set_cookie("a", "1");
        request.set_cookie("b", "1");
        request.set_cookie("a", "2");
      }),
    ).toEqual(["a=2; Path=/; HttpOnly; SameSite=Lax", "b=1; Path=/; HttpOnly; SameSite=Lax"]);
  });

  it.each(["", "a b", "a=b", "a;b", "a\n", "é", "web_session", "__Host-web_session"])(
    "refuses the cookie name %j",
    (name) => {
      expect(() => setCookieHeaders(() => request.set_cookie(name, "x"))).toThrow(TypeError);
    },
  );

  it.each([1, null, undefined, {}, "\ud800"])("refuses the cookie value %j", (value) => {
    // Reflect.apply, because the types refuse these values. Plain JavaScript callers can pass them.
    expect(() => setCookieHeaders(() => Reflect.apply(request.set_cookie, request, ["a", value]))).toThrow(TypeError);
  });

  it.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, "60", null])("refuses the max_age %j", (max_age) => {
    expect(() => setCookieHeaders(() => Reflect.apply(request.set_cookie, request, ["a", "b", { max_age }]))).toThrow(
      TypeError,
    );
  });

  it.each([
    [60, "the number 60. For a lifetime, pass the seconds as { max_age: 60 }."],
    [1.5, "the number 1.5. For a lifetime, pass the seconds as { max_age: 3600 }."],
    ["60", "a value of type string. For a lifetime,"],
    [null, "null. For a lifetime,"],
    [[60], "an array. For a lifetime,"],
    [true, "a value of type boolean. For a lifetime,"],
  ])("refuses the options %j, and sets no cookie", (options, message) => {
    const context = requestContext();
    expect(() => runInContext(context, () => Reflect.apply(request.set_cookie, request, ["a", "b", options]))).toThrow(
      `request.set_cookie: the options of a must be an object. Received: ${message}`,
    );
    expect([...context.setCookieHeaders]).toEqual([]);
  });

  it("refuses an option that does not exist, and names max_age", () => {
    const options = { maxAge: 3600 };
    expect(() => setCookieHeaders(() => Reflect.apply(request.set_cookie, request, ["a", "b", options]))).toThrow(
      "Unknown option maxAge in request.set_cookie(). Valid options: max_age.",
    );
  });

  it("refuses a cookie over 4,096 bytes, which browsers would drop", () => {
    expect(setCookieHeaders(() => request.set_cookie("a", "x".repeat(4095)))).toHaveLength(1);
    expect(() => setCookieHeaders(() => request.set_cookie("a", "x".repeat(4096)))).toThrow("a would be 4097 bytes");
    expect(() => setCookieHeaders(() => request.set_cookie("a", "é".repeat(1000)))).toThrow(RangeError);
  });
});

describe("the name of a cookie", () => {
  it.each([
    ["web_session", true],
    ["__Host-web_session", true],
    ["shop", true],
    ["__Host-shop", true],
    ["web_session2", false],
    ["shop2", false],
    ["Web_Session", false],
    ["__Secure-web_session", false],
    [" web_session", false],
    ["", false],
  ])("is reserved for the session if it is that of the configuration or of production, %j: %s", (name, isReserved) => {
    for (const WEB_COOKIE_SECURE of ["0", "1"]) {
      expect(isSessionCookie(name, testConfig({ WEB_COOKIE_SECURE, WEB_SESSION_COOKIE: "shop" }))).toBe(isReserved);
    }
  });
});
