import { h } from "preact";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledRoute, compiledServer, createTestApp } from "#test/compiled-app";
import { bodyOf, FORM_ENV, JOIN, joinApp, postForm, redirectOf, signedInCookie, VALID } from "#test/join-app";
import { RPCError } from "../errors.ts";
import { NotFound } from "../pages/index.ts";
import type { Markup } from "../protocol/index.ts";
import { session } from "../session/index.ts";

const _STRING = { type: "any", shape: { kinds: ["string"] } } as const;

beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe("the address of a form", () => {
  it("is the path and query of its page, with the name of the function", async () => {
    const app = joinApp(() => 1, { options: { base: "/shop" } });
    const get = async (path: string) => bodyOf(await app.fetch(new Request(`http://shop.example${path}`)));
    expect(await get("/shop/join")).toContain('action="/shop/join?__form=register"');
    expect(await get("/shop/join?a=1&b")).toContain('action="/shop/join?a=1&amp;b&amp;__form=register"');
    expect(
      redirectOf(
        await postForm(
          joinApp(() => null, { options: { base: "/shop" } }),
          "/shop/join?__form=register",
          { fields: VALID },
        ),
      ),
    ).toEqual([303, "/shop/join"]);
  });

  it("is ignored by GET, and seen by no page", async () => {
    const run = vi.fn();
    const response = await joinApp(run).fetch(new Request("http://shop.example/join?__form=register&a=1"));
    const body = await bodyOf(response);
    expect(run).not.toHaveBeenCalled();
    expect(body).toContain("query {&quot;a&quot;:&quot;1&quot;}");
    expect(body).toContain('action="/join?a=1&amp;__form=register"');
  });

  it.each([
    "?%5F%5Fform=other",
    "?a=1&_%5fform=other&b=%20",
    "?%5f%5fform=other:x&__form=other&%5F_form",
    "?__%66orm=other",
  ])("is never that of a function which a link has chosen by the query %s [SITE-13]", async (query) => {
    const [run, other] = [vi.fn(() => null), vi.fn()];
    const app = joinApp(run, { more: { other: compiledServer("other", other) } });
    const body = await bodyOf(await app.fetch(new Request(`http://shop.example/join${query}`)));
    const action = /action="([^"]+)"/.exec(body)?.[1]?.replaceAll("&amp;", "&") ?? "";
    expect(new URL(action, "http://shop.example").searchParams.getAll("__form")).toEqual(["register"]);
    expect((await postForm(app, action, { fields: VALID })).status).toBe(303);
    expect(other).not.toHaveBeenCalled();
    expect(run).toHaveBeenCalledOnce();
  });

  it.each([
    "/join",
    "/join/?__form=register",
    "/hook",
    "/hook?__form=register",
    "/healthz?__form=register",
    "/__web/live?__form=register",
  ])("is not %s", async (path) => {
    const run = vi.fn();
    const hook = compiledRoute("GET /hook", () => new Response());
    const response = await postForm(joinApp(run, { more: { hook } }), path, { fields: VALID });
    expect(run).not.toHaveBeenCalled();
    if (path.startsWith("/join") || path.startsWith("/hook")) expect(response.status).toBe(405);
  });

  it.each([
    "//evil.example",
    "/\\\\evil.example",
    "/%2fevil.example",
    "/.//evil.example",
    "/a/..//evil.example",
    "/x?//evil.example",
    "/x?&&__form=&a=//evil.example",
  ])("never redirects to another host: %s [SITE-17]", async (path) => {
    const sent = `${path}${path.includes("?") ? "&" : "?"}__form=sign_out`;
    const sign_out = compiledServer("sign_out", () => null);
    const response = await postForm(createTestApp({ sign_out }), sent);
    const location = response.headers.get("location");
    if (response.status !== 400) expect(response.status).toBe(path.includes("=&a") ? 404 : 303);
    if (location !== null) expect(new URL(location, "http://shop.example").host).toBe("shop.example");
  });

  it("is that of the page next to a route for POST, and without the parameter that of the route", async () => {
    const hook = compiledRoute("POST /join", () => new Response("hook"));
    const app = joinApp(() => null, { more: { hook } });
    expect((await postForm(app, JOIN, { fields: VALID })).status).toBe(303);
    expect(await (await postForm(app, "/join", { fields: VALID })).text()).toBe("hook");
  });

  it("has the security headers of the page, whatever the outcome", async () => {
    const page = { headers: { "x-frame-options": "DENY" } };
    for (const [work, status] of [
      [() => null, 303],
      [() => 1, 200],
      [
        () => {
          throw new RPCError("conflict", "x");
        },
        409,
      ],
    ] as const) {
      const response = await postForm(joinApp(work, { page }), JOIN, { fields: VALID });
      expect([response.status, response.headers.get("x-frame-options")]).toEqual([status, "DENY"]);
    }
  });
});

describe("a form in the layout", () => {
  const sign_out = compiledServer("sign_out", () => session.logout());
  const layout = ({ children }: { children: Markup }) => [
    children,
    h("form", { action: sign_out as never }, h("button", null, "Sign out")),
  ];
  const app = createTestApp(
    {
      sign_out,
      item: compiledPage("/items/:id", ({ id }) => (id === "1" ? "item" : Promise.reject(new NotFound()))),
      broken: compiledPage("/broken", () => Promise.reject(new Error("x"))),
    },
    { env: FORM_ENV, layout },
  );

  it.each([
    ["/items/1", 200],
    ["/items/2", 404],
    ["/broken?a=1", 500],
    ["/nowhere", 404],
    ["/nowhere/", 404],
  ])("works on %s, which is shown with status %i", async (path, status) => {
    const shown = await app.fetch(new Request(`http://shop.example${path}`));
    expect(shown.status).toBe(status);
    const action = /action="([^"]+)"/.exec(await shown.text())?.[1]?.replaceAll("&amp;", "&") ?? "";
    const response = await postForm(app, action, { headers: { cookie: signedInCookie() } });
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe(path.replace(/\/$/, ""));
    expect(response.headers.get("set-cookie")).toContain("Max-Age=0");
  });
});
