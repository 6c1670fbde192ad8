import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledPage, compiledRoute, compiledServer, createTestApp, getPage } from "#test/compiled-app";
import { signInCookie } from "#test/request-context";
import type { AppOptions } from "../app.ts";
import { RPCError } from "../errors.ts";
import { isSitePath, redirect, request } from "../http/index.ts";
import { session } from "../session/index.ts";
import { NotFound } from "./error-page.ts";
import { signInLocation } from "./handle-page-error.ts";

const get = (path: string, search = "") => ({ method: "GET", path, search });

describe("signInLocation", () => {
  it.each([
    ["/board", "", "/sign-in?next=%2Fboard"],
    ["/", "", "/sign-in?next=%2F"],
    ["/a%20b", "?q=1&r=%26", "/sign-in?next=%2Fa%2520b%3Fq%3D1%26r%3D%2526"],
    ["/sign-in/other", "", "/sign-in?next=%2Fsign-in%2Fother"],
  ])("passes the path %s with the query %j as next", (path, search, location) => {
    expect(signInLocation("/sign-in", get(path, search))).toBe(location);
  });

  it("keeps the query of the sign-in page", () => {
    expect(signInLocation("/sign-in?from=app", get("/a"))).toBe("/sign-in?from=app&next=%2Fa");
  });

  it("is null for the sign-in page itself, with any query, so that it does not redirect to itself", () => {
    for (const search of ["", "?next=%2F"]) expect(signInLocation("/sign-in", get("/sign-in", search))).toBeNull();
    expect(signInLocation("/sign-in?from=app", get("/sign-in"))).toBeNull();
  });

  it.each(["POST", "PUT", "DELETE", "get"])("has no next for the method %s", (method) => {
    expect(signInLocation("/sign-in", { method, path: "/a", search: "" })).toBe("/sign-in");
  });

  it("has next for HEAD, as for GET", () => {
    expect(signInLocation("/sign-in", { ...get("/a"), method: "HEAD" })).toBe("/sign-in?next=%2Fa");
  });

  it.each(["//evil.example", "/\\evil.example", "/\t/evil.example", "/..//evil.example"])(
    "has no next for the path %j, which leads to another host",
    (path) => {
      expect(signInLocation("/sign-in", get(path))).toBe("/sign-in");
    },
  );

  it("has no next outside the base of the application", () => {
    expect(signInLocation("/sign-in", { method: "GET", path: null, search: "?a" })).toBe("/sign-in");
  });

  it("has no next of more than 2,000 characters", () => {
    const at = (length: number) => signInLocation("/sign-in", get(`/${"a".repeat(length - 1)}`));
    expect(at(2000)).toContain("next=");
    expect(at(2001)).toBe("/sign-in");
  });

  it("never names another host, for any path and query, when a sign-in page follows next [SITE-31]", () => {
    const piece = fc.constantFrom(
      "/",
      "\\",
      "..",
      ".",
      "%2e",
      "%2f",
      "%5c",
      "\t",
      "\n",
      "a",
      "@",
      ":",
      "?",
      "#",
      "&",
      "e.x",
    );
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(text, text, (path, query) => {
        const location = signInLocation("/sign-in", get(`/${path}`, `?${query}`));
        if (location === null) return;
        const next = new URL(location, "https://shop.example").searchParams.get("next") ?? undefined;
        expect(next === undefined || isSitePath(next)).toBe(true); // also if the sign-in page does not check it
        const followed = redirect(next, { or: "/" });
        expect(followed.internal && isSitePath(followed.location)).toBe(true);
        expect(new URL(followed.location, "https://shop.example").host).toBe("shop.example");
      }),
      { numRuns: 5000 },
    );
  });
});

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const MODULE = {
  board: compiledPage("/boards/:id", () => session.require().sub),
  async_board: compiledPage("/async/:id", async () => {
    await null;
    return session.require().sub;
  }),
  admin: compiledPage("/admin", () => session.require("admin").sub),
  stale: compiledPage("/stale", () => {
    throw new RPCError("unauthenticated", "Enter your password again.");
  }),
  missing: compiledPage("/missing", () => {
    throw new NotFound();
  }),
  shown: compiledPage("/shown", async () => String(await guarded())),
  sign_in: compiledPage("/sign-in", () => {
    if (session.user()) return redirect(request.query.next, { or: "/" });
    return "Sign in";
  }),
  hook: compiledRoute("GET /hook", () => {
    throw new RPCError("unauthenticated", "No.");
  }),
};
const guarded = compiledServer("guarded", () => 1, { options: { auth_required: true } });

const createApp = (options: Partial<AppOptions> = {}) =>
  createTestApp({ ...MODULE, guarded }, { sign_in: "/sign-in", ...options });

describe("the option sign_in", () => {
  it.each([
    ["/boards/1?tab=2", "/boards/1?tab=2"],
    ["/async/1", "/async/1"],
    ["/admin", "/admin"],
    ["/shown", "/shown"],
  ])("redirects %s there, with its path as next, and back after the sign-in", async (path, next) => {
    const app = createApp();
    const { status, headers } = await getPage(app, path);
    const location = headers.get("location") ?? "";
    expect([status, location]).toEqual([303, `/sign-in?next=${encodeURIComponent(next)}`]);
    const cookie = signInCookie("ada");
    const back = await getPage(app, location, { headers: { cookie } });
    expect([back.status, back.headers.get("location")]).toEqual([303, next]);
  });

  it("adds the base to the sign-in page, and not to next, to which redirect adds it", async () => {
    const app = createApp({ base: "/shop" });
    const { headers } = await getPage(app, "/shop/boards/1");
    expect(headers.get("location")).toBe("/shop/sign-in?next=%2Fboards%2F1");
    const back = await getPage(app, "/shop/sign-in?next=%2Fboards%2F1", { headers: { cookie: signInCookie("ada") } });
    expect(back.headers.get("location")).toBe("/shop/boards/1");
  });

  it.each(["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""])(
    "leads nowhere else with the next of an attacker: %j",
    async (next) => {
      const path = `/sign-in?next=${encodeURIComponent(next)}`;
      const { headers } = await getPage(createApp(), path, { headers: { cookie: signInCookie("ada") } });
      expect(headers.get("location")).toBe("/");
    },
  );

  it("also applies to a layout", async () => {
    const layout = async () => session.require().sub;
    expect((await getPage(createApp({ layout }), "/missing")).headers.get("location")).toBe("/sign-in?next=%2Fmissing");
  });

  it("responds with 401 on the sign-in page itself, which would redirect without end", async () => {
    const layout = () => session.require().sub;
    expect((await getPage(createApp({ layout }), "/sign-in")).status).toBe(401);
  });

  it("responds with 401 to a user who is signed in, whom the sign-in page would send back", async () => {
    const cookie = signInCookie("ada");
    expect((await getPage(createApp(), "/stale", { headers: { cookie } })).status).toBe(401);
    expect((await getPage(createApp(), "/admin", { headers: { cookie } })).status).toBe(403);
  });

  it("does not apply to other errors, routes and calls", async () => {
    const app = createApp();
    expect((await getPage(app, "/missing")).status).toBe(404);
    expect((await getPage(app, "/hook")).status).toBe(401);
    const call = await callOverHttp(app, "guarded");
    expect([call.status, call.headers.get("x-redirect")]).toEqual([401, null]);
  });

  it("is off by default: the response is 401", async () => {
    expect((await getPage(createTestApp({ ...MODULE, guarded }), "/boards/1")).status).toBe(401);
  });

  it("can be the path of a route, and have a query", async () => {
    const location = async (sign_in: string) =>
      (await getPage(createApp({ sign_in }), "/boards/1")).headers.get("location");
    expect(await location("/hook")).toBe("/hook?next=%2Fboards%2F1");
    expect(await location("/sign-in?a=b")).toBe("/sign-in?a=b&next=%2Fboards%2F1");
  });

  it.each(["/sing-in", "sign-in", "//evil.example", "https://evil.example", "/sign-in#a", "", 1, null])(
    "is refused when the application starts: %j",
    (sign_in) => {
      expect(() => createApp({ sign_in: sign_in as string })).toThrow(
        /new App: sign_in (must be the path|is "\/sing-in")/,
      );
    },
  );
});
