import { describe, expect, it } from "vitest";
import { compiledPage, compiledRoute, createTestApp, getPage } from "#test/compiled-app";
import { pageOf, type RoutePattern, routeOf } from "../pages/index.ts";
import { createSpeculationRules, type SpeculationInput, urlPattern } from "./prefetches.ts";
import { createAppRouter } from "./router.ts";

/** Pages by their paths, those left out with a `!`, and routes by their patterns. */
function rulesOf(declared: readonly string[], input: Partial<SpeculationInput> = {}) {
  const definitions = declared.map((text) => {
    const path = text.replace("!", "");
    if (!path.startsWith("/")) return routeOf(compiledRoute(path as RoutePattern, () => new Response()));
    return pageOf(compiledPage(path, () => null, text.startsWith("!") ? { prefetch: false } : {}));
  });
  const pages = definitions.filter((found) => found?.kind === "page");
  const routes = definitions.filter((found) => found?.kind === "route");
  const router = createAppRouter(pages, routes);
  const file = createSpeculationRules({ pages, routes, router, base: "", files: [], when: "hover", ...input });
  return file && { ...file, rules: JSON.parse(file.text).prefetch };
}

/** The first condition of the rules: which paths are prefetched. */
function links(...args: Parameters<typeof rulesOf>) {
  return rulesOf(...args)?.rules[0].where.and[0];
}

const matches = (...paths: string[]) => ({ href_matches: paths.map((pathname) => ({ pathname })) });
const without = (pages: string[], ...exceptions: string[]) => ({
  and: [matches(...pages), { not: matches(...exceptions) }],
});

describe("speculation rules", () => {
  it("prefetch links to pages on hover, without reserved parameters, nofollow, target and download", () => {
    expect(rulesOf(["/", "/boards/:id"])?.rules).toEqual([
      {
        source: "document",
        where: {
          and: [
            matches("/", "/boards/:id"),
            {
              not: {
                href_matches: [
                  { pathname: "/*", search: "__*" },
                  { pathname: "/*", search: "*&__*" },
                ],
              },
            },
            { not: { selector_matches: '[download],[rel~="nofollow" i],[target]:not([target="_self" i])' } },
          ],
        },
        eagerness: "moderate",
      },
    ]);
  });

  it("have the eagerness of the option", () => {
    expect(rulesOf(["/"], { when: "hover" })?.rules[0].eagerness).toBe("moderate");
    expect(rulesOf(["/"], { when: "press" })?.rules[0].eagerness).toBe("conservative");
  });

  it("have a path with a hash of their content", () => {
    const first = rulesOf(["/"]);
    expect(first?.path).toMatch(/^\/assets\/speculation-[\w-]{8}\.json$/);
    expect(rulesOf(["/"])?.path).toBe(first?.path);
    expect(rulesOf(["/", "/a"])?.path).not.toBe(first?.path);
  });

  it("do not exist without a page to prefetch", () => {
    expect(rulesOf([])).toBeNull();
    expect(rulesOf(["!/", "GET /files/:name"])).toBeNull();
  });

  it.each<[title: string, declared: string[], expected: object]>([
    ["no route", ["/", "GET /feed.xml"], matches("/")],
    ["no page that is left out", ["/", "!/account"], matches("/")],
    [
      "no route within the pattern of a page",
      ["/files/:id", "GET /files/export"],
      without(["/files/:id"], "/files/export"),
    ],
    ["no left out page within that of a page", ["/:slug", "!/logout"], without(["/:slug"], "/logout")],
    ["no route that overlaps with a page", ["/a/:x", "GET /:y/b"], without(["/a/:x"], "/:y/b")],
    ["no route with a rule that overlaps", ["/:x", "GET /:y(\\d+)"], without(["/:x"], "/:y(\\d+)")],
    ["a page within a route for the rest", ["/boards", "/boards/:id", "GET /**"], matches("/boards", "/boards/:id")],
    ["a page within a left out page", ["/boards/new", "!/boards/:id"], matches("/boards/new")],
    ["a page at the address of other methods", ["/boards", "POST /boards", "DELETE /boards"], matches("/boards")],
    [
      "pages with the same exceptions together",
      ["/:a/:b", "/", "/y/:d/e", "GET /x/y"],
      { or: [without(["/:a/:b"], "/x/y", "/assets/:file+", "/__web/:path+"), matches("/", "/y/:d/e")] },
    ],
    [
      "all pages except files of the build and the paths of tsweb",
      ["/**:rest", "GET /a"],
      without(["/:rest+"], "/a", "/assets/:file+", "/__web/:path+"),
    ],
  ])("prefetch %s", (_, declared, expected) => {
    expect(links(declared)).toEqual(expected);
  });

  it("prefetch no file of the folder public in place of a page", () => {
    const files = ["/robots.txt", "/price list.pdf", "/docs/a.pdf", "/assets/app-1a2b3c4d.js"];
    expect(links(["/:name", "/"], { files })).toEqual({
      or: [without(["/:name"], "/robots.txt", "/price%20list.pdf"), matches("/")],
    });
  });

  it("have the base of the application", () => {
    expect(links(["/", "/boards/:id", "GET /boards/export"], { base: "/shop" })).toEqual({
      or: [matches("/shop{/}?"), without(["/shop/boards/:id"], "/shop/boards/export")],
    });
  });

  it.each([
    ["/boards/:id", "/boards/:id"],
    ["/users/:id(\\d+)", "/users/:id(\\d+)"],
    ["/docs/**:rest", "/docs/:rest+"],
    ["/docs/**", "/docs{/*}?"],
    ["/files/*", "/files{/*}?"],
    ["/**", "{/*}?"],
    ["/**/end", "{/*}?/end"],
    ["/*/feed", "{/*}?/feed"],
    ["/files/*.png", "/files/*.png"],
    ["/**.md", "/*.md"],
    ["/a/\\*\\*/b", "/a/\\*\\*/b"],
    ["{/:lang}?/docs", "{/:lang}?/docs"],
  ])("write the pattern %s of the router as %s", (path, expected) => {
    expect(urlPattern("", path)).toBe(expected);
  });
});

describe("an application", () => {
  const module = {
    home: compiledPage("/", () => null),
    missing: compiledPage("/broken", () => {
      throw new Error("broken");
    }),
    plain: compiledPage("/plain", () => null, { headers: { "speculation-rules": null } }),
    strict: compiledPage("/strict", () => null, { policy: { "default-src": "'none'" } }),
    file: compiledRoute("GET /file", () => new Response("<p>", { headers: { "content-type": "text/html" } })),
  };

  it("sends the header with its pages only, and serves the rules as a file for a year", async () => {
    const app = createTestApp(module, { base: "/shop", log: { info() {}, warn() {}, error() {} } });
    const rulesOfPage = async (path: string) => (await getPage(app, path)).headers.get("speculation-rules");
    const header = await rulesOfPage("/shop");
    expect(header).toMatch(/^"\/shop\/assets\/speculation-[\w-]{8}\.json"$/);
    expect(await rulesOfPage("/shop/strict")).toBe(header);
    expect(await rulesOfPage("/shop/broken")).toBe(header);
    expect(await rulesOfPage("/shop/plain")).toBeNull();
    expect(await rulesOfPage("/shop/file")).toBeNull();
    expect(await rulesOfPage("/shop/nothing")).toBeNull();
    const response = await getPage(app, JSON.parse(header ?? ""));
    expect(response.headers.get("content-type")).toBe("application/speculationrules+json");
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(response.headers.get("speculation-rules")).toBeNull();
    expect(await response.json()).toMatchObject({ prefetch: [{ eagerness: "moderate" }] });
  });

  it("has no rules with prefetch: false", async () => {
    const response = await getPage(createTestApp(module, { prefetch: false }), "/");
    expect(response.headers.get("speculation-rules")).toBeNull();
  });

  it("serves its rules without `before`, also where a page matches any path", async () => {
    const rest = compiledPage("/**", () => "page");
    const app = createTestApp(
      { rest },
      { before: ({ path }) => (path === "/a" ? undefined : new Response("refused")) },
    );
    const header = (await getPage(app, "/a")).headers.get("speculation-rules");
    expect(await (await getPage(app, JSON.parse(header ?? ""))).json()).toHaveProperty("prefetch");
  });

  it("links the style sheet of transitions before those of the application, only with the option", async () => {
    const app = createTestApp(module, { base: "/shop", transitions: true });
    const html = await (await getPage(app, "/shop")).text();
    const [, href = ""] = /<link rel="stylesheet" href="(\/shop\/assets\/transitions-[\w-]{8}\.css)">/.exec(html) ?? [];
    const sheet = await getPage(app, href);
    expect(sheet.headers.get("content-type")).toBe("text/css; charset=utf-8");
    expect(await sheet.text()).toBe(
      "@media (prefers-reduced-motion:no-preference){@view-transition{navigation:auto}}\n",
    );
    expect(await (await getPage(createTestApp(module), "/")).text()).not.toContain("stylesheet");
  });

  it.each([
    [{ prefetch: "now" }, 'new App: prefetch must be "hover", "press" or false. It is "now".'],
    [{ prefetch: true }, 'new App: prefetch must be "hover", "press" or false. It is of type boolean.'],
    [{ transitions: "fade" }, "new App: transitions must be true or false. It is of type string."],
  ])("rejects the option %j", (options, message) => {
    expect(() => createTestApp(module, options as object)).toThrow(message);
  });

  it("rejects another value than false of a page", () => {
    expect(() => compiledPage("/a", () => null, { prefetch: "hover" } as object)).toThrow(
      'page("/a"): prefetch is "hover". Only false is an option of a page; new App has "hover" and "press".',
    );
  });
});
