import { h } from "preact";
import { describe, expect, it } from "vitest";
import { compiledPage, compiledQuery, compiledServer, createTestApp } from "#test/compiled-app";
import { request } from "../http/index.ts";
import { channel } from "../live/index.ts";
import type { PageOptions } from "../pages/index.ts";
import { session } from "../session/index.ts";
import { internalsOf } from "./internals.ts";

const ENV = { WEB_AUTH_SECRET: "5a".repeat(32), WEB_CSRF_SECRET: "6b".repeat(32) };

/** Renders the one page of an application below a base, as the build does. */
async function renderStatic(render: () => unknown, option: PageOptions["static"] = true, before?: () => undefined) {
  const page = compiledPage("/about", async () => h("main", null, String(await render())), { static: option });
  const app = createTestApp({ page }, { base: "/shop", env: ENV, ...(before ? { before } : {}) });
  return internalsOf(app)?.renderStaticPages();
}

describe("static pages", () => {
  const list = compiledQuery("list", { on: ["room"] }, () => 1);

  const readUser = () => session.user();
  const readCookies = () => request.cookies;
  const readSort = () => request.query.sort;
  const openChannel = () => channel("room");
  const readList = () => list.live();

  it.each<[use: string, read: () => unknown]>([
    ["session.user()", readUser],
    ["request.cookies", readCookies],
    ["request.query.sort", readSort],
    ["channel()", openChannel],
    ["list.live()", readList],
  ])("are refused with the place if they use %s of a request", async (use, read) => {
    const error: Error = await renderStatic(read).then(
      () => new Error("It was rendered."),
      (error) => error,
    );
    expect(error.message).toContain("The page /about (src/pages.server.tsx:1) is static");
    expect(error.message).toContain(use);
    expect(error.stack).toMatch(new RegExp(`at ${read.name} \\(.*static-pages\\.test\\.ts`));
  });

  it("are refused if they have a form with a CSRF token", async () => {
    const save = compiledServer("save", () => null);
    const page = compiledPage("/", () => h("form", { action: save as unknown as string }, null), { static: true });
    const rendered = internalsOf(createTestApp({ page }, { env: ENV }))?.renderStaticPages();
    await expect(rendered).rejects.toThrow(
      /The page \/ \(src\/pages\.server\.tsx:1\) is static.*a form with a CSRF token/s,
    );
  });

  it('need static: "public" in an application with before [STATIC-3]', async () => {
    const before = () => undefined;
    await expect(renderStatic(() => "all", true, before)).rejects.toThrow('write static: "public"');
    const output = await renderStatic(() => "all", "public", before);
    expect(output?.pages.map(({ file }) => file)).toEqual(["/about.html"]);
  });
});
