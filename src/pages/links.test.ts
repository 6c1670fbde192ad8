import { describe, expect, it } from "vitest";
import { compiledPage, compiledRoute, createTestApp, getPage } from "#test/compiled-app";
import { redirect } from "../http/index.ts";
import type { Markup } from "../protocol/index.ts";
import type { Page } from "./page.ts";

type AnyPage = Page<"/boards/:id">;

describe("the href of a page and of a route", () => {
  it("has the base of the application of the request, and without a request that of its last application", async () => {
    const board: AnyPage = compiledPage("/boards/:id", () => null);
    const file = compiledRoute("GET /files/:name", () => new Response());
    const home = compiledPage("/", (): Markup => `${board.href({ id: 1 })} ${file.href({ name: "a b" })}`);
    const module = { home, board, file };
    const shop = createTestApp(module, { base: "/shop" });
    const root = createTestApp(module);
    expect(await (await getPage(shop, "/shop")).text()).toContain("/shop/boards/1 /shop/files/a%20b");
    expect(await (await getPage(root, "/")).text()).toContain("<body>/boards/1 /files/a%20b");
    expect(board.href({ id: 2 }, { query: { a: 1 }, hash: "b" })).toBe("/boards/2?a=1#b");
  });

  it("has no base in a process without an application, and is refused by one that has a base", () => {
    const board: AnyPage = compiledPage("/boards/:id", () => null);
    expect(board.href({ id: 1 })).toBe("/boards/1");
    expect(() => createTestApp({ board })).not.toThrow();
    const other: AnyPage = compiledPage("/boards/:id", () => null);
    other.href({ id: 1 });
    expect(() => createTestApp({ other }, { base: "/shop" })).toThrow(
      'href() of the page /boards/:id was called before new App({ base: "/shop" }), so that its link has no base. Call it inside of a function.',
    );
  });
});

describe("a redirect to a link", () => {
  const locationOf = async (module: Record<string, unknown>, path: string, base?: string) => {
    const app = createTestApp(module, base === undefined ? {} : { base });
    return (await getPage(app, path)).headers.get("location");
  };

  it("does not add the base again", async () => {
    const board: AnyPage = compiledPage("/boards/:id", () => null);
    const home = compiledPage("/", () => redirect(`${board.href({ id: 1 }, { query: { a: 1 } })}#b`));
    const back = compiledPage("/back", () => redirect(home.href()));
    const module = { home, back, board };
    expect(await locationOf(module, "/shop", "/shop")).toBe("/shop/boards/1?a=1#b");
    expect(await locationOf(module, "/shop/back", "/shop")).toBe("/shop/");
    expect(await locationOf(module, "/")).toBe("/boards/1?a=1#b");
  });

  it("still adds the base to a path that begins as the base does, where the application has a page there", async () => {
    const list: Page<"/shop/list"> = compiledPage("/shop/list", () => null);
    const plain = compiledPage("/plain", () => redirect("/shop/list"));
    const linked = compiledPage("/linked", () => redirect(list.href()));
    const other = compiledPage("/other", () => redirect("/shopping"));
    const module = { list, plain, linked, other };
    expect(await locationOf(module, "/shop/plain", "/shop")).toBe("/shop/shop/list");
    expect(await locationOf(module, "/shop/linked", "/shop")).toBe("/shop/shop/list");
    expect(await locationOf(module, "/shop/other", "/shop")).toBe("/shop/shopping");
  });
});
