import { describe, expect, it } from "vitest";
import { cookieHeaderOf, requestContext } from "#test/request-context";
import { FetchInboundRequest } from "./inbound-request.ts";
import { request } from "./request.ts";
import { RequestContext, runInContext } from "./request-context.ts";

function requestOf(url: string, init: RequestInit = {}): RequestContext {
  const raw = new Request(url, init);
  const { config } = requestContext();
  return new RequestContext({
    inbound: new FetchInboundRequest(raw),
    id: "id-1",
    traceparent: "",
    address: "::1",
    config,
  });
}

describe("request", () => {
  it("is what came, in frozen records of strings", () => {
    const init = { method: "HEAD", headers: { "X-Own": "1", cookie: "a=b; __proto__=c; e=%20d" } };
    runInContext(requestOf("http://shop.example/p/a%20b?q=1&q=2&constructor=x", init), () => {
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
      for (const fields of [request.query, request.headers, request.cookies]) {
        expect(Object.isFrozen(fields)).toBe(true);
        expect(fields.toString).toBeUndefined();
        expect(fields.hasOwnProperty).toBeUndefined();
      }
    });
  });

  it.each(["path", "method", "query", "headers", "cookies", "id", "signal"] as const)(
    "outside a request throws and says so (%s)",
    (member) => {
      expect(() => request[member]).toThrow(`request.${member} was used outside a request`);
    },
  );
});

describe("request.set_cookie", () => {
  /** The `Set-Cookie` lines of an answer whose code did this. */
  function lines(work: () => void): string[] {
    const context = requestContext();
    runInContext(context, work);
    return [...context.setCookieHeaders];
  }

  it("writes the interface's attributes", () => {
    expect(lines(() => request.set_cookie("a", "b"))).toEqual(["a=b; Path=/; HttpOnly; SameSite=Lax"]);
    expect(lines(() => request.set_cookie("a", "b", { max_age: 60 }))).toEqual([
      "a=b; Max-Age=60; Path=/; HttpOnly; SameSite=Lax",
    ]);
    expect(lines(() => request.set_cookie("a", "", { max_age: 0 }))).toEqual([
      "a=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax",
    ]);
  });

  it("writes any text so that it comes back", () => {
    const value = 'é;, "\\\r\nSet-Cookie: x=y';
    const context = requestContext();
    runInContext(context, () => request.set_cookie("a", value));
    const cookie = cookieHeaderOf(context);
    expect(cookie).toMatch(/^a=[\w%.~!*'()-]+$/);
    expect(runInContext(requestContext(cookie), () => request.cookies.a)).toBe(value);
  });

  it("replaces an earlier one of its name", () => {
    expect(
      lines(() => {
        request.set_cookie("a", "1");
        request.set_cookie("b", "1");
        request.set_cookie("a", "2");
      }),
    ).toEqual(["a=2; Path=/; HttpOnly; SameSite=Lax", "b=1; Path=/; HttpOnly; SameSite=Lax"]);
  });

  it.each(["", "a b", "a=b", "a;b", "a\n", "é", "web_session", "__Host-web_session"])("refuses the name %j", (name) => {
    expect(() => lines(() => request.set_cookie(name, "x"))).toThrow(TypeError);
  });

  it.each([1, null, undefined, {}, "\ud800"])("refuses the value %j", (value) => {
    // What the types refuse comes from JavaScript all the same.
    expect(() => lines(() => Reflect.apply(request.set_cookie, request, ["a", value]))).toThrow(TypeError);
  });

  it.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, "60", null])("refuses the max_age %j", (max_age) => {
    expect(() => lines(() => Reflect.apply(request.set_cookie, request, ["a", "b", { max_age }]))).toThrow(TypeError);
  });

  it("refuses what browsers would drop for its size", () => {
    expect(lines(() => request.set_cookie("a", "x".repeat(4095)))).toHaveLength(1);
    expect(() => lines(() => request.set_cookie("a", "x".repeat(4096)))).toThrow("a would be 4097 bytes");
    expect(() => lines(() => request.set_cookie("a", "é".repeat(1000)))).toThrow(RangeError);
  });
});
