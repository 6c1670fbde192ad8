import { h } from "preact";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledServer, createTestApp } from "#test/compiled-app";
import { bodyOf, CSRF_ENV, postForm } from "#test/join-app";
import { RPCError } from "../errors.ts";
import type { Markup } from "../protocol/index.ts";

beforeEach(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});

const STRING = { type: "any", shape: { kinds: ["string"] } } as const;

const refuse = compiledServer(
  "refuse",
  () => {
    throw new RPCError("conflict", "Taken.", { parameter: "email" });
  },
  { params: { email: STRING } },
);
const other = compiledServer("other", () => null, { params: { email: STRING } });

/** Creates a form as an application does that creates its markup once, for all requests. */
function createForm(field: Markup = h("input", { name: "email" })) {
  return h("form", { action: refuse as never }, field, h("select", { name: "s" }, h("option", null, "a"))); // typed in JSX
}

const get = async (app: ReturnType<typeof createTestApp>, path: string) =>
  bodyOf(await app.fetch(new Request(`http://shop.example${path}`)));
const submit = async (app: ReturnType<typeof createTestApp>, path: string) =>
  bodyOf(await postForm(app, `${path}?__form=refuse`, { fields: { email: "ada@example.com", s: "a" } }));
const withoutToken = (body: string) => body.replaceAll(/name="__csrf" value="[^"]+"/g, "");
const tokenOf = (body: string) => /name="__csrf" value="([^"]+)"/.exec(body)?.[1];

describe("markup that is created once, for all requests", () => {
  it("contains nothing of a form that another request has sent, and a token of its own [SESSION-35]", async () => {
    const shared = createForm();
    const app = createTestApp(
      { refuse, one: compiledPage("/one", () => shared), two: compiledPage("/two", () => shared) },
      { env: CSRF_ENV },
    );
    const before = await get(app, "/one");
    const refused = await submit(app, "/one");
    expect(refused).toContain("ada@example.com");
    const after = await get(app, "/one");
    expect(withoutToken(after)).toBe(withoutToken(before));
    expect(new Set([before, refused, after].map(tokenOf)).size).toBe(3);
    expect(await get(app, "/two")).toContain('action="/two?__form=refuse"');
  });

  it("is rendered for its place in a layout, and in several forms of a page", async () => {
    const field = h("input", { name: "email" });
    const shared = createForm(field);
    const layout = ({ children }: { children: Markup }) => h("div", null, shared, children, shared);
    const page = compiledPage("/page", () => h("form", { action: other as never }, field)); // typed in JSX
    const app = createTestApp({ refuse, other, page }, { env: CSRF_ENV, layout });
    const refused = await submit(app, "/page");
    expect(refused.match(/ada@example\.com/g)).toHaveLength(2); // in the layout's forms only
    expect(refused.match(/name="__csrf"/g)).toHaveLength(3);
    expect(await get(app, "/page")).not.toContain("ada@example.com");
  });

  it("contains nothing of a request whose rendering has failed [SESSION-36]", async () => {
    let fails = true;
    const Failing = () => {
      if (fails) throw new Error("x");
      return null;
    };
    const shared = h("form", { action: refuse as never }, h("input", { name: "email" }), h(Failing, null)); // typed in JSX
    const app = createTestApp({ refuse, page: compiledPage("/page", () => shared) }, { env: CSRF_ENV });
    await submit(app, "/page");
    fails = false;
    expect(await get(app, "/page")).not.toContain("ada@example.com");
  });
});
