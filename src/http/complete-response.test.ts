import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { requestContext, requestContextOf, testConfig } from "#test/request-context";
import { completeResponse } from "./complete-response.ts";
import {
  type HandlerResponse,
  htmlResponse,
  jsonResponse,
  type OutboundResponse,
  PushedBody,
  toFetchResponse,
  varying,
} from "./handler-response.ts";
import { FetchInboundRequest } from "./inbound-request.ts";
import { PREFETCHED_PAGES } from "./prefetch.ts";
import { RequestContext } from "./request-context.ts";

describe("completing a response with a pushed body, such as a file", () => {
  it.each(["GET", "HEAD"])("does not open the body of the response to %s", (method) => {
    const open = vi.fn();
    const response = { status: 200, headers: { "content-type": "image/png" }, body: new PushedBody(open) };
    const inbound = new FetchInboundRequest(new Request("http://localhost/", { method }));
    const { id, traceparent, address, config } = requestContext();
    const context = new RequestContext({ inbound, id, traceparent, address, config });
    const completed = completeResponse(response, context, { documents: [["x-frame-options", "DENY"]], data: [] });
    expect(completed).toMatchObject({ status: 200, body: method === "HEAD" ? null : response.body });
    expect(completed.headers).toEqual(expect.arrayContaining(["content-type", "image/png", "x-frame-options", "DENY"]));
    expect(open).not.toHaveBeenCalled();
  });
});

/** The cookies of a response of a route: those that are set through tsweb, and those in its own headers. */
const COOKIE_SOURCES: readonly {
  readonly name: string;
  readonly cookies?: readonly string[];
  readonly headers?: readonly [string, string][];
}[] = [
  { name: "none" },
  { name: "set through tsweb", cookies: ["a", "b"] },
  { name: "of the route", headers: [["Set-Cookie", "session=1; HttpOnly"]] },
  {
    name: "both",
    cookies: ["a"],
    headers: [
      ["Set-Cookie", "b=2"],
      ["set-cookie", "c=3"],
    ],
  },
];

describe("the Cache-Control of a response that many clients may have", () => {
  it.each([
    ["no-cache", "private, no-store"], // the file of a static page, behind a `before` that sets a cookie
    ["public, s-maxage=60", "private, no-store"],
    ["private, no-cache", "private, no-cache"],
  ])("that is %s becomes %s with a cookie, and stays without", (cacheControl, expected) => {
    const cacheControlOf = (context: RequestContext) => {
      const page = { status: 200, headers: { "cache-control": cacheControl }, body: "" };
      const { headers } = completeResponse(page, context, { documents: [], data: [] }) as OutboundResponse;
      return headers[headers.indexOf("cache-control") + 1];
    };
    const context = requestContext();
    expect(cacheControlOf(context)).toBe(cacheControl);
    const withCookie = requestContext();
    withCookie.setCookie("visit", "1");
    expect(cacheControlOf(withCookie)).toBe(expected);
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
  ])("%j becomes %j, so that no shared cache sends the cookie to another user [RESPONSE-12]", (own, expected) => {
    for (const { name, cookies = [], headers = [] } of COOKIE_SOURCES) {
      const context = requestContext();
      for (const cookie of cookies) context.setCookie(cookie, "1");
      const route = new Response(null, { headers: [["cache-control", own], ...headers] });
      const { headers: sent } = toFetchResponse(completeResponse(route, context, { documents: [], data: [] }));
      expect([name, sent.get("cache-control")]).toEqual([name, name === "none" ? own : expected]);
      expect(sent.getSetCookie()).toHaveLength(cookies.length + headers.length);
    }
  });

  it("becomes private also if another server has set the cookie [RESPONSE-14]", async () => {
    const upstream = createServer((_, response) => {
      response
        .writeHead(200, { "set-cookie": "a=1", "cache-control": "public", "cdn-cache-control": "max-age=600" })
        .end();
    }).listen(0, "127.0.0.1");
    await once(upstream, "listening");
    const route = await fetch(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`); // it listens on a port
    upstream.close();
    const { headers } = toFetchResponse(completeResponse(route, requestContext(), { documents: [], data: [] }));
    expect(headers.getSetCookie()).toEqual(["a=1"]);
    expect([headers.get("cache-control"), headers.has("cdn-cache-control")]).toEqual(["private, no-store", false]);
  });
});

it.each(["CDN-Cache-Control", "Cloudflare-CDN-Cache-Control", "Surrogate-Control"])(
  "the header %s of a route, which CDNs prefer to Cache-Control, is left out of a response that sets a cookie [RESPONSE-13]",
  (header) => {
    for (const { name, cookies = [], headers: own = [] } of COOKIE_SOURCES) {
      const context = requestContext();
      for (const cookie of cookies) context.setCookie(cookie, "1");
      const route = new Response(null, { headers: [["cache-control", "public"], [header, "max-age=600"], ...own] });
      const { headers } = toFetchResponse(completeResponse(route, context, { documents: [], data: [] }));
      expect([name, headers.has(header), headers.get("cache-control")]).toEqual(
        name === "none" ? [name, true, "public"] : [name, false, "private, no-store"],
      );
    }
  },
);

describe("the caches of the browser are emptied by the first page after a sign-out over HTTP", () => {
  const page = { status: 200, headers: { "content-type": "text/html; charset=utf-8" }, body: "" };
  const headersOf = (response: Parameters<typeof completeResponse>[0], context: ReturnType<typeof requestContext>) =>
    toFetchResponse(completeResponse(response, context, { documents: [], data: [] })).headers;

  it("if the page itself signs out: the next page does it again", () => {
    const context = requestContext();
    context.setCookie("web_signed_out", "1");
    const headers = headersOf(page, context);
    expect([headers.get("clear-site-data"), headers.getSetCookie()]).toEqual([
      '"cache"',
      [expect.stringContaining("web_signed_out=1")],
    ]);
  });

  it("if an earlier response has signed out, once", () => {
    const headers = headersOf(page, requestContext("web_signed_out=1"));
    expect([headers.get("clear-site-data"), headers.getSetCookie()]).toEqual([
      '"cache"',
      ["web_signed_out=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"],
    ]);
  });

  it("but by no other page, no call, and nothing over HTTPS [BACK-5]", () => {
    const call = { ...page, headers: { "content-type": "application/json" } };
    for (const headers of [
      headersOf(page, requestContext("web_session=x")),
      headersOf(call, requestContext("web_signed_out=1")),
      headersOf(page, requestContext("web_signed_out=1", testConfig({ WEB_COOKIE_SECURE: "1" }))),
    ]) {
      expect([headers.has("clear-site-data"), headers.getSetCookie()]).toEqual([false, []]);
    }
  });
});

describe("the security headers of a response", () => {
  const security = { documents: [["x-frame-options", "DENY"]], data: [["x-data", "1"]] } as const;
  const namesOf = (response: Parameters<typeof completeResponse>[0]) => {
    const { headers } = toFetchResponse(completeResponse(response, requestContext(), security));
    return ["x-frame-options", "x-data"].filter((name) => headers.has(name));
  };
  const ofType = (type: string) => ({ status: 200, headers: { "content-type": type }, body: "" });

  it("are those of data for JSON and streams of JSON [SITE-25]", () => {
    expect(namesOf(ofType("application/json"))).toEqual(["x-data"]);
    expect(namesOf(ofType("application/x-ndjson"))).toEqual(["x-data"]);
    expect(namesOf(jsonResponse(200, "{}"))).toEqual(["x-data"]); // the result of a call, whose headers are prepared
  });

  it("are those of documents for everything else, and for all responses of routes", () => {
    for (const type of ["text/html; charset=utf-8", "text/plain", "text/event-stream", "image/svg+xml"])
      expect(namesOf(ofType(type))).toEqual(["x-frame-options"]);
    expect(namesOf({ status: 204, body: null })).toEqual(["x-frame-options"]);
    expect(namesOf(Response.json({}))).toEqual(["x-frame-options"]);
  });
});

const page = htmlResponse(200, "<p>");

describe.each<[string, HandlerResponse]>([
  ["the result of a call", jsonResponse(200, "{}")],
  ["a page", page],
  ["a page that may be compressed", { ...page, headers: varying(page.headers, "Accept-Encoding") }],
])("the headers of %s, which are listed once for all that have the same", (_, response) => {
  const added = [
    ["x-added", "1"],
    ["cache-control", "public"], // of the option `headers` of an application
  ] as const;
  const security = { documents: added, data: added };
  const complete = (completed: HandlerResponse, change: (context: RequestContext) => void = () => undefined) => {
    const call = new Request("http://localhost/", { method: "POST", headers: { "sec-fetch-mode": "cors" } });
    const context = requestContextOf(call);
    change(context);
    const outbound = completeResponse(completed, context, security) as OutboundResponse; // it is no `Response`
    const headers = outbound.headers.map((text) => (/^(00-)?[0-9a-f-]{32,}$/.test(text) ? "an id" : text));
    return { headers, sharedHeaders: outbound.sharedHeaders };
  };

  it.each<[string, boolean, (context: RequestContext) => void, Partial<HandlerResponse>]>([
    ["a plain result", true, () => undefined, {}],
    ["pages to clear that were prefetched", true, (context) => context.set(PREFETCHED_PAGES, { take: () => true }), {}],
    ["a cookie", true, (context) => context.setCookie("a", "1"), {}],
    ["a connection that must close", false, (context) => (context.closeConnection = true), {}],
    ["a header that `before` has set", false, (context) => context.setHeader("x-own", "1"), {}],
    ["a security header that `before` has removed", false, (context) => context.setHeader("x-added", null), {}],
    ["a cache-control that `before` has set", false, (context) => context.setHeader("cache-control", "public"), {}],
    ["security headers of its own", true, () => undefined, { security: [["x-own", "1"]] }],
  ])("are those of any other response: %s", (_, isShared, change, own) => {
    const { headers, sharedHeaders } = complete({ ...response, ...own }, change);
    expect(headers).toEqual(complete({ ...response, ...own, headers: { ...response.headers } }, change).headers);
    expect(sharedHeaders ?? null).toEqual(isShared ? headers.slice(0, headers.indexOf("x-request-id")) : null);
  });

  it("are not those of a page or an application with other security headers", () => {
    expect(complete(response).headers).toContain("x-added");
    expect(complete({ ...response, security: [["x-own", "1"]] }).headers).not.toContain("x-added");
    expect(complete(response).headers).not.toContain("x-own");
  });

  it("clear the pages that were prefetched only if the client may hold some", () => {
    const clearing = complete(response, (context) => context.set(PREFETCHED_PAGES, { take: () => true }));
    expect(clearing.headers).toContain("clear-site-data");
    expect(complete(response, (context) => context.set(PREFETCHED_PAGES, { take: () => false })).headers).not.toContain(
      "clear-site-data",
    );
  });

  it("are not changed for later responses when an adapter adds to them", () => {
    const completeOnce = () => completeResponse(response, requestContext(), security).headers as string[];
    completeOnce().push("content-length", "2");
    expect(completeOnce()).not.toContain("content-length");
  });
});
