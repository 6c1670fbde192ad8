import { expect, test } from "vitest";
import { readTestModule } from "#test/in-memory-modules";
import { markupWarnings } from "./markup-warnings.ts";

/** Markup that begins in line 2. */
const inComponent = (markup: string) => `export const A = ({ items, size, a }) => (\n${markup}\n);`;

const warningsOf = (markup: string, file = "src/a.tsx") =>
  markupWarnings(readTestModule(file, inComponent(markup)), { root: "/app" });

test.each([
  [
    "<p>\n  // the total\n  {a}\n</p>",
    'src/a.tsx:3 shows the comment "the total" as text, because it is in markup. Write `{/* the total */}`, or `{"…"}` to show it.',
  ],
  ["<>\n  //TODO\n</>", 'src/a.tsx:3 shows the comment "TODO" as text'],
  ["<p>\n  {a} text\n  // end of a line\n  <b />\n</p>", 'src/a.tsx:4 shows the comment "end of a line" as text'],
  ["<p>/* hidden */</p>", 'src/a.tsx:2 shows the comment "hidden" as text'],
  ["<p>\n  /* two\n     lines */\n</p>", 'src/a.tsx:3 shows the comment "two lines" as text'],
  ["<Code a={<p>\n  // shown\n</p>} />", 'src/a.tsx:3 shows the comment "shown" as text'],
  ["<p>{items.length && <b />}</p>", 'src/a.tsx:2 shows "0" if items.length is 0. Write `{items.length > 0 && …}`.'],
  ["<>\n  {a && items?.list.length && <b>x</b>}\n</>", 'src/a.tsx:3 shows "0" if items?.list.length is 0.'],
  ["<p>{(items.filter(Boolean).length) && (<b />)}</p>", "Write `{items.filter(Boolean).length > 0 && …}`."],
  ["<p>{new Set(items).size && <></>}</p>", 'shows "0" if new Set(items).size is 0.'],
])("is reported: %s", (markup, warning) => {
  const warnings = warningsOf(markup);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain(warning);
});

test("is reported in a page too", () => {
  expect(warningsOf("<p>\n  // the total\n</p>", "src/a.server.tsx")).toEqual([
    expect.stringContaining("src/a.server.tsx:3 shows the comment"),
  ]);
});

test.each([
  "<p>{/* a comment */}</p>",
  "<p>\n  {/* a comment */}\n  {\n    // another one\n  }\n</p>",
  "<p>https://example.com // and more</p>",
  "<p>\n  https://example.com\n</p>",
  "<p>\n  //cdn.example.com/a.js\n</p>",
  "<p>\n  see //cdn/x\n</p>",
  "<h2>// News</h2>",
  "<p>1 /* 2 */ 3</p>",
  "<p>{'// shown'}</p>",
  "<code>\n  // a comment\n</code>",
  "<pre><b>\n  // a comment\n</b></pre>",
  "<pre>/* a comment */</pre>",
  "<CodeBlock>\n  // a comment\n</CodeBlock>",
  "<Ui.Snippet>\n  // a comment\n</Ui.Snippet>",
  "<p title='// x'>\n  ////\n</p>",
  "<p>{items.length > 0 && <b />}</p>",
  "<p>{!!items.length && <b />}</p>",
  "<p>{Boolean(items.length) && <b />}</p>",
  "<p>{items.length && a && <b />}</p>",
  "<p>{items.length || <b />}</p>",
  "<p>{items.length ? <b /> : null}</p>",
  "<p>{items.length && 'text'}</p>",
  "<p hidden={items.length && <b />}>x</p>",
  "<p>{size && <b />}</p>",
  "<p>{a.size && <b />}</p>",
  "<p>{a.length && items.length > 1 && <b />}</p>",
])("is not reported: %s", (markup) => {
  expect(warningsOf(markup)).toEqual([]);
});
