import { describe, expect, it, vi } from "vitest";
import { requestContext } from "#test/request-context";
import { completeResponse } from "./complete-response.ts";
import { FetchInboundRequest } from "./inbound-request.ts";
import { PushedBody } from "./pushed-body.ts";
import { RequestContext } from "./request-context.ts";

describe("completing a response with a pushed body, such as a file", () => {
  it.each(["GET", "HEAD"])("does not open the body of the response to %s", (method) => {
    const open = vi.fn();
    const response = { status: 200, headers: { "content-type": "image/png" }, body: new PushedBody(open) };
    const inbound = new FetchInboundRequest(new Request("http://localhost/", { method }));
    const { id, traceparent, address, config } = requestContext();
    const context = new RequestContext({ inbound, id, traceparent, address, config });
    const completed = completeResponse(response, context, [["x-frame-options", "DENY"]]);
    expect(completed).toMatchObject({ status: 200, body: method === "HEAD" ? null : response.body });
    expect(completed.headers).toEqual(expect.arrayContaining(["content-type", "image/png", "x-frame-options", "DENY"]));
    expect(open).not.toHaveBeenCalled();
  });
});

describe("the Cache-Control of a route's response that sets a cookie", () => {
  it.each([
    ["public, max-age=60", "private, no-store"],
    ["max-age=60", "private, no-store"],
    ["no-cache", "private, no-store"],
    ['private="x-user"', "private, no-store"],
    ["private, max-age=60", "private, max-age=60"],
    ["max-age=60,PRIVATE", "max-age=60,PRIVATE"],
    ["no-store", "no-store"],
  ])("%j becomes %j, so that no shared cache sends the cookie to another user", (own, expected) => {
    for (const [cookies, sent] of [
      [[], own],
      [["a", "b"], expected],
    ] as const) {
      const context = requestContext();
      for (const name of cookies) context.setCookie(name, "1");
      const response = completeResponse(new Response(null, { headers: { "cache-control": own } }), context, []);
      expect(new Headers(response.headers as Headers).get("cache-control")).toBe(sent);
    }
  });
});
