import { h } from "preact";
import { expect, it } from "vitest";
import { compiledPage, createTestApp } from "#test/compiled-app";
import { setDevelopment } from "#test/development";

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
