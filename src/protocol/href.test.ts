import { addRoute, createRouter, findRoute } from "rou3";
import { describe, expect, it, test } from "vitest";
import { formatHref, parseUrl } from "./href.ts";

describe("a link", () => {
  test("has the parameters of its path, encoded", () => {
    expect(formatHref("", "/boards/:id", { id: 7 })).toBe("/boards/7");
    expect(formatHref("", "/boards/:id/cards/:card", { id: "a b", card: "ü/?#%" })).toBe(
      "/boards/a%20b/cards/%C3%BC%2F%3F%23%25",
    );
    expect(formatHref("", "/")).toBe("/");
  });

  test("has the base of the application", () => {
    expect(formatHref("/shop", "/boards/:id", { id: 7 })).toBe("/shop/boards/7");
    expect(formatHref("/shop", "/")).toBe("/shop/");
    expect(formatHref("/shop", "/**")).toBe("/shop");
  });

  test("has a query, without what is not set, and a hash", () => {
    const query = { q: "a&b", page: 2, all: true, none: undefined, nothing: null, tag: ["x", undefined, "y"] };
    expect(formatHref("", "/", {}, { query, hash: "top" })).toBe("/?q=a%26b&page=2&all=true&tag=x&tag=y#top");
    expect(formatHref("", "/", {}, { hash: "#a b" })).toBe("/#a%20b");
    expect(formatHref("", "/", {}, { query: { none: undefined }, hash: "" })).toBe("/");
  });

  test.each<[pattern: string, params: Record<string, string | undefined>, path: string]>([
    ["/users/:id(\\d+)", { id: "12" }, "/users/12"],
    ["/files/:ext(png|(?:jpe?g))", { ext: "jpeg" }, "/files/jpeg"],
    ["/path/(\\d+)/x/(\\d+)", { 0: "1", 1: "2" }, "/path/1/x/2"],
    ["/users/:id?", {}, "/users"],
    ["/users/:id?", { id: "1" }, "/users/1"],
    ["/:id?", {}, "/"],
    ["/files/:path+", { path: "a/b c" }, "/files/a/b%20c"],
    ["/files/:path*", {}, "/files"],
    ["/files/:path*", { path: "a/b" }, "/files/a/b"],
    ["/files/*", {}, "/files"],
    ["/files/*", { 0: "a/b" }, "/files/a/b"],
    ["/files/*.png", { 0: "a/icon" }, "/files/a/icon.png"],
    ["/files/:path(.*)", { path: "a/b" }, "/files/a/b"],
    ["/docs/**", { 0: "a/b" }, "/docs/a/b"],
    ["/docs/**:rest", { rest: "a/b" }, "/docs/a/b"],
    ["/**/end", {}, "/end"],
    ["/book{s}?", {}, "/book"],
    ["/blog/:id(\\d+){-:title}?", { id: "1" }, "/blog/1"],
    ["/blog/:id(\\d+){-:title}?", { id: "1", title: "my-post" }, "/blog/1-my-post"],
    ["{/:lang}?/docs", { lang: "de" }, "/de/docs"],
    ["/a{/b}/:c", { c: "1" }, "/a/b/1"],
    ["/files/:name.:ext", { name: "a", ext: "txt" }, "/files/a.txt"],
    ["/v:version?", {}, "/v"],
    ["/static\\:path/\\*/:id", { id: "1" }, "/static:path/*/1"],
    ["/why\\?", {}, "/why%3F"],
  ])("of %s with %j is a path that the router finds with these parameters", (pattern, params, path) => {
    expect(formatHref("", pattern, params)).toBe(path);
    const router = createRouter<true>();
    addRoute(router, "GET", pattern, true);
    const { _, ...found } = findRoute(router, "GET", path)?.params ?? {};
    const decoded = Object.entries(found).map(([name, value]) => [name, decodeURIComponent(value)]);
    expect(findRoute(router, "GET", path)?.data).toBe(true);
    expect(Object.fromEntries(decoded)).toEqual(params);
  });

  test.each([
    ["/boards/:id", {}],
    ["/boards/:id", { id: "" }],
    ["/boards/:id", { id: undefined }],
    ["/docs/**:rest", { rest: "" }],
    ["/files/:path+", {}],
  ])("of %s with %j would be that of another page, so it throws", (pattern, params) => {
    expect(() => formatHref("", pattern, params)).toThrow(TypeError);
  });

  test("names the path and the parameter that is missing", () => {
    expect(() => formatHref("/shop", "/boards/:id", {})).toThrow(
      "href() of /boards/:id: the parameter id is missing or empty. Pass its value.",
    );
  });

  test("never leads out of its path or to another site, whatever its parameters are", () => {
    const hostile = [
      "..",
      ".",
      "%2e%2e",
      "/",
      "//b.example",
      "\\b.example",
      "a/../..",
      "?x",
      "#x",
      "\t",
      "\ud800",
      "@b.example",
    ];
    for (const value of hostile) {
      for (const [pattern, params] of [
        ["/boards/:id", { id: value }],
        ["/docs/**:rest", { rest: value }],
        ["/:id/settings", { id: value }],
      ] as const) {
        const url = new URL(formatHref("/shop", pattern, params), "https://a.example");
        expect(url.origin).toBe("https://a.example");
        expect(url.pathname).toMatch(
          pattern === "/:id/settings" ? /^\/shop\/.+\/settings$/ : /^\/shop\/(boards|docs)\/./,
        );
        expect(url.search + url.hash).toBe("");
      }
    }
  });

  test.each([
    ["/**", { 0: "/b.example" }],
    ["/**:rest", { rest: "/b.example/x" }],
    ["/**:rest", { rest: "///b.example" }],
    ["/:lang?/**:rest", { rest: "/b.example" }],
    ["{/:lang}?/:path+", { path: "/b.example" }],
    ["/:path(.*)", { path: "/b.example" }],
  ])("of %s with %j stays on the site without a base too", (pattern, params) => {
    const href = formatHref("", pattern, params);
    expect(new URL(href, "https://a.example").origin).toBe("https://a.example");
  });
});

it("parseUrl returns the URL of a host with other letters than ASCII, however often it is called", () => {
  const hosts = new Set(Array.from({ length: 30_000 }, () => parseUrl("https://bücher.example/")?.host));
  expect([...hosts]).toEqual(["xn--bcher-kva.example"]);
});

it.each(["", "/path", "shop.example", "https://", "https://a b", "https://shop.example:65536"])(
  "parseUrl returns null for %j",
  (text) => {
    expect(parseUrl(text)).toBeNull();
  },
);
