import { describe, expect, it } from "vitest";
import { compiledPage } from "#test/compiled-app";
import { type PageDefinition, pageOf, type RouteDefinition } from "../pages/index.ts";
import { createAppRouter } from "./router.ts";

function pageAt(path: string): PageDefinition {
  const definition = pageOf(compiledPage(path, () => null));
  if (!definition) throw new Error("It is a page");
  return definition;
}

function routeAt(method: RouteDefinition["method"], path: string): RouteDefinition {
  return {
    kind: "route",
    href: () => path,
    options: {},
    method,
    path,
    run: () => new Response(),
    source: { file: "src/routes.server.ts", line: 1 },
  };
}

describe("createAppRouter", () => {
  const router = createAppRouter(
    ["/", "/users/new", "/users/:id", "/a/:b/c/:d", "/docs/**:rest", "/größe"].map(pageAt),
    [routeAt("POST", "/hooks/:kind"), routeAt("GET", "/files/:name"), routeAt("DELETE", "/files/:name")],
  );

  it.each([
    ["/", "/", {}],
    ["/users/new", "/users/new", {}],
    ["/users/7", "/users/:id", { id: "7" }],
    ["/users/7/", "/users/:id", { id: "7" }],
    ["/users/__proto__", "/users/:id", { id: "__proto__" }],
    ["/users/a%20b%2Fc%3F", "/users/:id", { id: "a b/c?" }],
    ["/users/%2541", "/users/:id", { id: "%41" }],
    ["/users/%C3%A9", "/users/:id", { id: "é" }],
    ["/a/x/c/y", "/a/:b/c/:d", { b: "x", d: "y" }],
    ["/docs/a/b%20c/d", "/docs/**:rest", { rest: "a/b c/d" }],
    ["/gr%C3%B6%C3%9Fe", "/größe", {}],
  ])("matches %s to the page %s with the parameters %j", (path, page, params) => {
    const match = router("GET", path);
    expect(match).toMatchObject({ kind: "page", page: { path: page } });
    expect({ ...(match?.kind === "page" ? match.params : null) }).toMatchObject(params);
    expect(router("HEAD", path)).toMatchObject({ kind: "page", page: { path: page } });
  });

  it.each(["/nothing", "/users", "/users/7/x", "/USERS/new/x", "/__proto__", "/constructor"])(
    "matches %s to nothing, with any method",
    (path) => {
      for (const method of ["GET", "HEAD", "POST", "BREW"]) expect(router(method, path)).toBeUndefined();
    },
  );

  it("matches by method, and returns the allowed methods for any other", () => {
    expect(router("POST", "/hooks/a%20b")).toMatchObject({ kind: "route", params: { kind: "a b" } });
    expect(router("GET", "/hooks/x")).toEqual({ kind: "method", allow: "POST" });
    expect(router("HEAD", "/files/x")).toMatchObject({ kind: "route", route: { method: "GET" } });
    expect(router("PUT", "/files/x")).toEqual({ kind: "method", allow: "GET, HEAD, DELETE" });
    expect(router("POST", "/users/7")).toEqual({ kind: "method", allow: "GET, HEAD" });
  });
});
