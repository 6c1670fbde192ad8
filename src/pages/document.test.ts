import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "#test/any-text";
import { type Assets, type DocumentParts, escapeHtml, escapeScript, writeDocument } from "./document.ts";

const assets: Assets = {
  scripts: [],
  islands: { src: "/assets/islands-1.js", preload: ["/assets/shared-1.js"] },
  partViews: { src: "/assets/part-views-1.js", preload: [] },
  view: ({ name }) => ({ src: `/assets/${name}.js`, preload: ["/assets/shared-1.js"] }),
  styles: () => [],
};

function documentOf(parts: Partial<DocumentParts> = {}): string {
  return writeDocument({
    htmlAttributes: { lang: "en" },
    bodyAttributes: {},
    title: "Title",
    head: "",
    body: "<p>Body</p>",
    islands: [],
    tag: null,
    mark: "m",
    csrfToken: null,
    form: null,
    base: "",
    styles: [],
    assets,
    ...parts,
  });
}

/** Returns the text of the page data as an HTML parser finds it: up to the first end of the script. */
function dataOf(html: string): string {
  const opening = '<script type="application/json" id="tsweb">';
  const start = html.indexOf(opening) + opening.length;
  const text = html.slice(start, start + html.slice(start).search(/<\/script/i));
  // After this text in a script, a parser does not end the script at the next </script>.
  expect(text).not.toContain("<!--");
  return text;
}

const island = (props: unknown, name = "V") => ({ source: { file: "src/v.tsx", name }, props: JSON.stringify(props) });

describe("writeDocument", () => {
  it("writes the character set and the viewport before the title", () => {
    expect(documentOf()).toBe(
      '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
        '<meta name="viewport" content="width=device-width, initial-scale=1">' +
        "<title>Title</title></head><body><p>Body</p></body></html>",
    );
  });

  it("escapes the title and the language", () => {
    const html = documentOf({ title: `</title><script>alert("1")</script>&'`, htmlAttributes: { lang: '"><script>' } });
    expect(html).toContain("<title>&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;</title>");
    expect(html).toContain('<html lang="&quot;&gt;&lt;script&gt;">');
  });

  it("links style sheets and no script on a page without a view", () => {
    const html = documentOf({ styles: ["/a.css", '/b".css'], base: "/shop" });
    expect(html).toContain(
      '<link rel="stylesheet" href="/shop/a.css"><link rel="stylesheet" href="/shop/b&quot;.css">',
    );
    expect(html).not.toContain("script");
  });

  it("writes the page data first and each script once on a page with views", () => {
    const html = documentOf({
      base: "/shop",
      islands: [island({ a: 1 }), island({ a: 2 }), island({}, "W")],
      head: "<x>",
    });
    expect(JSON.parse(dataOf(html))).toEqual({
      base: "/shop",
      mark: "m",
      views: [
        { src: "/shop/assets/V.js", name: "V", props: { a: 1 } },
        { src: "/shop/assets/V.js", name: "V", props: { a: 2 } },
        { src: "/shop/assets/W.js", name: "W", props: {} },
      ],
    });
    expect(html.indexOf('id="tsweb"')).toBeLessThan(html.indexOf("<x>"));
    expect(html.match(/<link rel="modulepreload" href="[^"]+">/g)).toEqual([
      '<link rel="modulepreload" href="/shop/assets/shared-1.js">',
      '<link rel="modulepreload" href="/shop/assets/V.js">',
      '<link rel="modulepreload" href="/shop/assets/W.js">',
    ]);
    expect(html.match(/<script type="module" src="[^"]+">/g)).toEqual([
      '<script type="module" src="/shop/assets/islands-1.js">',
    ]);
  });

  it("adds the scripts of the development server to every page", () => {
    const developmentAssets = { ...assets, scripts: ["/@vite/client"] };
    expect(documentOf({ assets: developmentAssets })).toContain('<script type="module" src="/@vite/client"></script>');
  });
});

describe("the links of a page", () => {
  /** Returns the `src` of all views in the page data, and of all links. */
  const urlsOf = (html: string) => [...html.matchAll(/(?:src"?[:=]|href=)"([^"]+)"/g)].map(([, url]) => url);

  it("are those of its base, its build, its style sheets and its views, whatever was rendered before", () => {
    const views = [island({}, "V"), island({}, "W")];
    const sheets: readonly (readonly string[])[] = [["/a.css"], []];
    const builds: readonly Assets[] = ["1", "2"].map((build) => ({
      ...assets,
      build,
      view: ({ name }) => ({ src: `/assets/${name}-${build}.js`, preload: [`/assets/${name}-shared.js`] }),
    }));
    const parts = fc.record({
      base: fc.constantFrom("", "/shop"),
      assets: fc.constantFrom(...builds),
      styles: fc.constantFrom(...sheets),
      islands: fc.array(fc.constantFrom(...views), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 6 }), (requests) => {
        for (const request of requests) {
          const development = { ...request.assets, build: undefined } as unknown as Assets; // its links are never reused
          const expected = documentOf({ ...request, assets: development, styles: [...request.styles] });
          expect(urlsOf(documentOf(request))).toEqual(urlsOf(expected));
        }
      }),
    );
  });

  it("of the development server change with its assets", () => {
    const styles: string[] = [];
    expect(documentOf({ styles, islands: [island({})] })).toContain("/assets/V.js");
    const edited = { ...assets, view: () => ({ src: "/assets/edited.js", preload: [] }) };
    expect(documentOf({ styles, islands: [island({})], assets: edited })).toContain("/assets/edited.js");
  });
});

describe("the CSRF token", () => {
  it("precedes the application's elements, and is present only with a view and CSRF tokens", () => {
    const views = { islands: [island({})], csrfToken: "a-_1", head: "<x>" };
    const html = documentOf(views);
    expect(html).toContain('<meta name="csrf-token" content="a-_1">');
    expect(html.indexOf("csrf-token")).toBeLessThan(html.indexOf("<x>"));
    expect(documentOf({ ...views, csrfToken: null })).not.toContain("csrf-token");
    expect(documentOf({ ...views, islands: [] })).not.toContain("csrf-token");
  });
});

describe("page data", () => {
  it("has the tag of the sign-in, and none for a signed-out client", () => {
    const islands = [island({})];
    expect(JSON.parse(dataOf(documentOf({ islands, tag: "paWlpaWlpaU" })))).toMatchObject({ tag: "paWlpaWlpaU" });
    expect(JSON.parse(dataOf(documentOf({ islands })))).not.toHaveProperty("tag");
  });

  it.each(["</script>", "</SCRIPT >", "<!--", "<script>", "<!-- <script>", "\u2028\u2029", "]]>", "&quot;", "\u0000"])(
    "round-trips the text %j",
    (text) => {
      const html = documentOf({ islands: [island({ text, [text]: text })] });
      expect(JSON.parse(dataOf(html)).views[0].props).toEqual({ text, [text]: text });
      expect(html.match(/<script/g)).toHaveLength(2);
      expect(html).not.toMatch(/[\u2028\u2029]/);
    },
  );

  it("round-trips any JSON: no prop can end the script element [RESPONSE-4]", () => {
    const dangerous = fc.constantFrom(
      "</script",
      "<!--",
      "<script",
      "-->",
      "\u2028",
      "\\",
      '"',
      "\\u003c",
      "<",
      ">",
      "/",
    );
    const string = fc.oneof(
      anyText(),
      fc.array(dangerous).map((pieces) => pieces.join("")),
    );
    const json = fc.object({ key: string, values: [string, fc.double(), fc.boolean(), fc.constant(null)] });
    fc.assert(
      fc.property(json, string, (props, name) => {
        const expected = JSON.parse(JSON.stringify(props));
        const data = JSON.parse(dataOf(documentOf({ islands: [island(expected, name)] })));
        expect(data.views[0].props).toEqual(expected);
        expect(data.views[0].name).toBe(JSON.parse(JSON.stringify(name)));
      }),
    );
  });
});

describe("escapeHtml and escapeScript", () => {
  it("leaves no character that could end a text, a quoted attribute or a script", () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        expect(escapeHtml(text)).not.toMatch(/[<>"']|&(?!amp;|lt;|gt;|quot;|#39;)/);
        expect(escapeScript(JSON.stringify(text))).not.toMatch(/[<>\u2028\u2029]/);
        expect(JSON.parse(escapeScript(JSON.stringify(text)))).toBe(text);
      }),
    );
  });
});
