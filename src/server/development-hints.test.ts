import { h } from "preact";
import { describe, expect, it } from "vitest";
import { compiledPage, compiledRoute, createTestApp } from "#test/compiled-app";
import { setDevelopment } from "#test/development";
import { redirect, request } from "../http/index.ts";

/** The requests without a page or route that the development server has received. */
const reported: string[] = [];

/** Requests a path of an application with a page at `/shop/`, and returns the text of the response. */
async function textOf(path: string, { method = "GET", isDev = true } = {}): Promise<string> {
  const home = compiledPage("/", () => h("p", null, "home"));
  const app = createTestApp({ home }, { base: "/shop" });
  if (isDev) {
    setDevelopment(app, {
      adviseUnloadedPage: async (unloaded) => (unloaded === "/about" ? "src/about.server.tsx declares it." : undefined),
      reportUnserved: async (allow) => void reported.push(`${method} ${path}: ${allow ?? "nothing"}`),
    });
  }
  return (await app.fetch(new Request(`http://localhost${path}`, { method }))).text();
}

it("a method that the page of an address does not receive is answered in development with how to handle it", async () => {
  expect(await textOf("/shop", { method: "POST" })).toBe(
    "This URL allows GET, HEAD. A page receives no POST. For a form, write a server function as its action: " +
      '`<form action={save}>`. For other clients, declare `route("POST /path", …)`.\n',
  );
  expect(await textOf("/shop", { method: "PUT" })).toContain(
    'A page receives no PUT. For other clients, declare `route("PUT',
  );
  expect(await textOf("/shop", { method: "PROPFIND" })).toBe("This URL allows GET, HEAD.\n");
  expect(await textOf("/shop", { method: "POST", isDev: false })).toBe("This URL allows GET, HEAD.\n");
});

it("an address without a page is answered in development with the module that declares one", async () => {
  expect(await textOf("/shop/about")).toContain("There is no page at this address. src/about.server.tsx declares it.");
  expect(await textOf("/shop/other")).toContain("To add one, list its module in `modules` of new App.");
  expect(await textOf("/about"), "outside of the base").toContain("To add one, list its module");
  expect(await textOf("/shop/about", { isDev: false })).not.toContain("src/about");
});

describe("a redirect of a request to its own URL", () => {
  /** Requests a path of an application with such redirects, and returns the redirects that were reported. */
  async function loopsOf(path: string, init: RequestInit = {}): Promise<string[]> {
    const loops: string[] = [];
    const self = () =>
      redirect(request.path.slice("/shop".length) + (request.query.q ? `?q=${request.query.q}` : "#top"));
    const app = createTestApp(
      {
        returned: compiledPage("/returned", self),
        thrown: compiledPage("/thrown", async () => {
          throw self();
        }),
        route: compiledRoute("GET /route", self),
        form: compiledRoute("POST /route", self),
        cookie: compiledPage("/cookie", () => {
          request.set_cookie("seen", "1");
          return self();
        }),
        other: compiledPage("/other", () => redirect("/other?q=1")),
        login: compiledPage("/login", () => null),
      },
      { base: "/shop", before: ({ path: at }) => (at === "/login" ? self() : undefined) },
    );
    setDevelopment(app, { reportRedirectLoop: ({ location }) => void loops.push(location) });
    expect((await app.fetch(new Request(`http://localhost/shop${path}`, init))).status).toBe(303);
    return loops;
  }

  it.each(["/returned", "/thrown", "/route", "/login"])("is reported to the development server: %s", async (path) => {
    expect(await loopsOf(path)).toEqual([`${path}#top`]);
    expect(await loopsOf(`${path}?q=1`)).toEqual([`${path}?q=1`]);
  });

  it("is not reported if the next request is another one", async () => {
    expect(await loopsOf("/cookie")).toEqual([]);
    expect(await loopsOf("/other")).toEqual([]);
    expect(await loopsOf("/returned?other=1")).toEqual([]);
    expect(await loopsOf("/route", { method: "POST", body: "x" })).toEqual([]);
  });
});

it("the development server receives each request for which there is no page or route, and no other", async () => {
  reported.length = 0;
  for (const path of ["/shop", "/shop/other", "/other"]) await textOf(path);
  await textOf("/shop", { method: "POST" });
  await textOf("/shop/other", { method: "POST" });
  await textOf("/shop/other", { isDev: false });
  expect(reported).toEqual([
    "GET /shop/other: nothing",
    "GET /other: nothing",
    "POST /shop: GET, HEAD",
    "POST /shop/other: nothing",
  ]);
});
