import { expect, test } from "vitest";
import { compileErrorOf, parseMarkedCode, readTestModule } from "#test/in-memory-modules";
import { checkSilentMarkup } from "./silent-markup.ts";

const inView = (markup: string) =>
  `import { state, view } from "tsweb/browser";\nexport const V = view(({ items }) => { const s = state({ a: "" }); return (${markup}); });`;

const check = (code: string, file = "src/v.tsx") => checkSilentMarkup(readTestModule(file, code));

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
  const code = inView(markup);
  const error = await compileErrorOf(async () => check(code));
  expect(error.message).toContain(message);
  expect(error.loc).toEqual({ file: "/app/src/v.tsx", ...parseMarkedCode(code).location });
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
  check(inView(markup));
});

test("attributes for scripts are accepted in the markup of a page, which may load them", () => {
  check('import { page } from "tsweb"; export const home = page("/", () => <p v-if="open">x</p>);', "src/a.server.tsx");
});
