import { h } from "preact";
import { expect, it } from "vitest";
import { compiledPage, createTestApp } from "#test/compiled-app";
import { requireInternals } from "./index.ts";

/** Requests a path of an application with a page at `/shop/`, and returns the text of the response. */
async function textOf(path: string, { method = "GET", isDev = true } = {}): Promise<string> {
  const home = compiledPage("/", () => h("p", null, "home"));
  const app = createTestApp({ home }, { base: "/shop" });
  const assets = {
    scripts: [],
    islands: { src: "", preload: [] },
    view: () => ({ src: "", preload: [] }),
    styles: () => [],
  };
  if (isDev) {
    requireInternals(app, "the test").setDevelopment({
      ...{ assets, called: [], publicFiles: null, printError: () => undefined },
      buildTool: { nonce: "x", reportPath: "/x" },
      showError: async () => "",
      adviseUnloadedPage: async (unloaded) => (unloaded === "/about" ? "src/about.server.tsx declares it." : undefined),
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
