import { expect, test } from "vitest";
import { compileErrorAt, readTestModule } from "#test/in-memory-modules";
import { checkSilentMarkup, markupWarnings } from "./silent-markup.ts";

const inView = (markup: string) =>
  `import { state, view } from "tsweb/browser";\nexport const V = view(({ items }) => { const s = state({ a: "" }); return (${markup}); });`;

const checkSilent = (code: string, file = "src/v.tsx") => checkSilentMarkup(readTestModule(file, code));

test.each([
  [
    "<p «v-if={s.a}>x</p>",
    "The attribute v-if has no effect: it is a directive of Vue. Write `{isShown && <p>…</p>}`.",
  ],
  ['<input «v-model="s.a" />', "directive of Vue"],
  ['<li «v-for="item in items">x</li>', "items.map("],
  ["<b «v-on:click={save}>x</b>", "Write `onClick={() => …}`"],
  ['<b «ng-click="save()">x</b>', "directive of AngularJS. Write `onClick={() => …}`"],
  ["<ul>«{items.forEach((item) => <li>{item}</li>)}</ul>", "forEach returns nothing, so this markup is not shown"],
  ["<>«{items?.forEach((item) => { return <li>{item}</li>; })}</>", "Write map"],
  ["<p «key={Math.random()}>x</p>", "This key is different at each rendering"],
  ["<V «key={crypto.randomUUID()} />", "`key={item.id}`"],
  [
    '<input type="checkbox" onChange={(event) => (s.a = «event.currentTarget.value)} />',
    "Read `event.currentTarget.checked`",
  ],
  ['<input type={"radio"} onInput={function (e) { save(«e.currentTarget.value); }} />', 'always the text "on"'],
  [
    '<input type="checkbox" value={s.on} onChange={(event) => («s.on = event.currentTarget.value)} />',
    "Write `checked={s.on} onChange={(event) => (s.on = event.currentTarget.checked)}`.",
  ],
  [
    '<input onInput={(e) => { «s.a = e.target.value as any; }} value={s.a} type="radio" {...items} />',
    'Give each radio button a value of its own: `value="red" checked={s.a === "red"}`.',
  ],
])("is rejected in a view: %s", async (markup, message) => {
  const error = await compileErrorAt("src/v.tsx", inView(markup), checkSilent);
  expect(error.message).toContain(message);
});

test.each([
  "<my-list v-if={s.a}>x</my-list>",
  "<Other v-if={s.a} />",
  '<p data-v-if={s.a} v-own="">x</p>',
  "<ul>{items.map((item) => <li>{item}</li>)}</ul>",
  "<ul>{items.forEach((item) => log(item))}</ul>",
  "<ul>{list(() => items.forEach((item) => <li>{item}</li>))}</ul>",
  "<p key={random()} title={String(Math.random())}>x</p>",
  "<p>{items.map((item, Math) => <b key={Math.random()}>x</b>)}</p>",
  '<input type="checkbox" value="a" onChange={(event) => (s.a = event.currentTarget.value)} />',
  '<input type="checkbox" {...items} onChange={(event) => (s.a = event.currentTarget.value)} />',
  "<input type={s.a} onChange={(event) => (s.a = event.currentTarget.value)} />",
  '<input type="text" onInput={(event) => (s.a = event.currentTarget.value)} />',
  '<input type="checkbox" onChange={(event) => { event.currentTarget.value = "x"; log(event.currentTarget.value); }} />',
  '<input type="checkbox" onChange={(event) => (s.a = event.currentTarget.checked)} />',
  '<input type="radio" value={s.b} onChange={(event) => (s.a = event.currentTarget.value)} />',
  '<input type="text" value={s.a} onInput={(event) => (s.a = event.currentTarget.value)} />',
  "<input type={s.type} value={s.a} onInput={(event) => (s.a = event.currentTarget.value)} />",
  '<input type="checkbox" value={s.a} onChange={(event) => { s.a += event.currentTarget.value; }} />',
])("is accepted in a view: %s", (markup) => {
  checkSilent(inView(markup));
});

test("attributes for scripts are accepted in the markup of a page, which may load them", () => {
  checkSilent(
    'import { page } from "tsweb"; export const home = page("/", () => <p v-if="open">x</p>);',
    "src/a.server.tsx",
  );
});

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
