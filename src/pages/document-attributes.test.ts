import { h } from "preact";
import { describe, expect, it } from "vitest";
import { compiledView } from "#test/compiled-app";
import { renderPage } from "#test/render-page";
import type { Markup } from "../protocol/index.ts";
import { Body, Head, Html } from "./document-elements.ts";
import type { Layout } from "./layout.ts";
import type { PageOptions } from "./page.ts";

const html = (props: object) => h(Html, props as never);
const body = (props: object) => h(Body, props as never);

/** Renders a page, and returns the start tags of the elements of its document. */
async function tags(page: () => Markup, layout: Layout | null = null, options: PageOptions = {}): Promise<string[]> {
  const response = await renderPage(page, options, { layout });
  expect(response.logged).toEqual([]);
  return response.html.match(/<(?:html|body)(?: [^>]*)?>/g) ?? [];
}

describe("the attributes of the document", () => {
  it("are set by a page, and render nothing in their place", async () => {
    const page = () => [html({ lang: "de", dir: "ltr", "data-theme": "sea" }), h("p", null), body({ class: "wide" })];
    expect(await tags(page)).toEqual(['<html lang="de" dir="ltr" data-theme="sea">', '<body class="wide">']);
    expect((await renderPage(page)).html).toMatch(/<p><\/p><\/body><\/html>$/);
  });

  it("are those of the page before those of its layout, wherever they are, with all classes once", async () => {
    const layout: Layout = ({ children }) => [
      body({ class: "site wide", "data-a": "layout" }),
      h("main", null, children),
      html({ lang: "fr", className: "light", "data-b": "layout" }),
    ];
    const page = () => [html({ lang: "de", class: "dark" }), body({ class: "wide page", "data-a": "page" })];
    expect(await tags(page, layout)).toEqual([
      '<html lang="de" class="light dark" data-b="layout">',
      '<body class="site wide page" data-a="page">',
    ]);
  });

  it("are the last ones of components, and are left out with null, undefined and false", async () => {
    const Theme = ({ name }: { name: string }) => html({ "data-theme": name, class: name });
    const page = () => [
      h(Theme, { name: "a" }),
      h("div", null, h(Theme, { name: "b" })),
      html({ lang: null, dir: undefined, class: false, "data-theme": null }),
    ];
    expect(await tags(page)).toEqual(['<html lang="en" data-theme="b" class="a b">', "<body>"]);
  });

  it.each<[string, PageOptions, string | null, string | null, string]>([
    ["of the page before its option", { lang: "fr" }, "de", "it", "de"],
    ["of the option before the layout", { lang: "fr" }, null, "it", "fr"],
    ["of the layout before the application", {}, null, "it", "it"],
    ["of the application", {}, null, null, "en"],
  ])("have the language %s", async (_, options, ofPage, ofLayout, lang) => {
    const layout: Layout = ({ children }) => [html({ lang: ofLayout }), children];
    expect((await tags(() => html({ lang: ofPage }), layout, options))[0]).toBe(`<html lang="${lang}">`);
  });

  it("are escaped", async () => {
    expect(await tags(() => html({ title: '"><script>&' }))).toContain(
      '<html lang="en" title="&quot;&gt;&lt;script&gt;&amp;">',
    );
  });
});

describe("an error", () => {
  const problem = async (markup: Markup) => {
    const { status, logged } = await renderPage(() => markup);
    expect(status).toBe(500);
    return logged.join();
  };

  it.each<[Markup, string]>([
    [html({ onclick: "alert(1)" }), "<Html> has the event handler onclick, which the content security policy forbids."],
    [body({ onLoad: () => 1 }), "<Body> has the event handler onLoad"],
    [body({ ONLOAD: "x" }), "<Body> has the event handler ONLOAD"],
    [
      html({ "data-n": 3 }),
      "<Html> has the attribute data-n of the type number. Pass a text, or null to leave it out.",
    ],
    [html({ style: { color: "red" } }), "<Html> has the attribute style of the type object."],
    [html({ clas: "a" }), '<Html> has the unknown attribute "clas". Did you mean class? Valid attributes: class,'],
    [html({ dangerouslySetInnerHTML: { __html: "" } }), '<Html> has the unknown attribute "dangerouslySetInnerHTML".'],
    [html({ 'data-"><script>': "x" }), "<Html> has the unknown attribute"],
    [html({ children: h("body", null) }), "<Html> has children. It only sets attributes"],
    [h(Head, null, html({ lang: "de" })), "<Html> is used inside <Head>. Move it out of <Head>"],
    [
      h(
        compiledView("Wrong", () => html({ lang: "de" })),
        {},
      ),
      "<Html> is used inside a view.",
    ],
    [h(Head, null, h("html", { lang: "de" })), 'To set lang of <html>, write <Html lang="…" /> of "tsweb"'],
    [h(Head, null, h("body", { class: "a" })), 'To set class of <body>, write <Body class="…" /> of "tsweb"'],
  ])("names what is wrong and how to fix it: %#", async (markup, message) => {
    expect(await problem(markup)).toContain(message);
  });

  it("is not thrown outside of a page, where nothing is set", () => {
    expect(Html.call(undefined, { lang: "de" })).toBeNull();
  });
});
