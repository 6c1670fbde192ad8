// biome-ignore-all lint/suspicious/noTemplateCurlyInString: source code that is compiled
import { SourceMap } from "node:module";
import { expect, it } from "vitest";
import { emitMarkup, evaluateMarkup } from "#test/evaluate-markup";
import { readModule } from "./modules/index.ts";
import { emitServerCode } from "./server-code.ts";

/** Returns the code of the markup in place, without the functions at the end of the module. */
function emit(markup: string): string {
  return emitMarkup(`const markup = ${markup};`)
    .replace(/\n;function [\s\S]*$/, "")
    .replace(/^const markup = |;$/g, "");
}

it.each([
  ["<p>a</p>", "_markup(_markup0, [])"],
  ['<p class="a" hidden id={"b"}>a{/* c */}</p>', "_markup(_markup0, [])"],
  ['<p style={{ color: "red" }}>a</p>', "_markup(_markup0, [])"],
  ["<p class={a}>b{c}<b>{d}</b></p>", "_markup(_markup0, [a, c, d])"],
  ["<p><A x={1} /><B /></p>", "_markup(_markup0, [<A x={1} />, <B />])"],
  ["<p><A><b>c</b>{<i>d</i>}</A></p>", "_markup(_markup2, [<A>{_markup(_markup0, [])}{_markup(_markup1, [])}</A>])"],
  ["<A icon=<b>c</b>>{d}</A>", "<A icon={_markup(_markup0, [])}>{d}</A>"],
  ["<p key={a} class={b}>{c}</p>", "_markup(_markup0, [b, c], a)"],
  ["<p class={b} key={a}>{c}</p>", "_markup(_markup0, [b, c], a)"],
  ["<p key={a}>b</p>", "_markup(_markup0, [], a)"],
  ["<ul><li key={a}>b</li>{c}</ul>", "_markup(_markup1, [_markup(_markup0, [], a), c])"],
  ["<p><>a</></p>", "_markup(_markup0, [<>a</>])"],
  ['<a href="/a">b</a>', "_markup(_markup0, [])"],
  ["<a href={`/a/${b}`}>c</a>", "_markup(_markup0, [`/a/${b}`])"],
  ["() => { return<p>a</p> }", "() => { return _markup(_markup0, []) }"],
  ["(<p>{a as string}{b<C>(c)}{d!}{(e, f)}</p>)", "(_markup(_markup0, [a as string, b<C>(c), d!, (e, f)]))"],
])("compiles %s", (markup, expected) => {
  expect(emit(markup)).toBe(expected);
});

it.each([
  ["a form", '<form method="get">a</form>'],
  ["a field", '<input name="a" />'],
  ["a button", '<button type="button">a</button>'],
  ["an option", '<option value="a">b</option>'],
  ["a script", '<script src="/a.js" />'],
  ["an element of <head>", '<meta name="a" content="b" />'],
  ["a component", "<A b={1} />"],
  ["a member", '<a.b c="d" />'],
  ["a custom element", '<my-element a="b" />'],
  ["spread props", "<p {...a}>b</p>"],
  ["a ref", "<p ref={a}>b</p>"],
  ["an event handler", "<p onClick={a}>b</p>"],
  ["an event handler in lower case", "<p onclick={a}>b</p>"],
  ["HTML", "<p dangerouslySetInnerHTML={{ __html: a }} />"],
  ["a computed style", "<p style={a}>b</p>"],
  ["a style with a computed value", "<p style={{ color: a }}>b</p>"],
  ["a computed URL", "<a href={a}>b</a>"],
  ["a computed URL whose beginning is not that of a path", "<a href={`a${b}`}>c</a>"],
  ["a computed URL whose beginning is a value", "<a href={`${a}/b`}>c</a>"],
  ["a URL that is a script", '<a href="javascript:a">b</a>'],
  ["a URL with an entity", '<a href="java&#115;cript:a">b</a>'],
  ["an attribute that has another name in an image", "<td colSpan={2}>a</td>"],
  ["an attribute that occurs twice", '<p class="a" className="b">c</p>'],
  ["an attribute with a namespace", '<p xlink:href="a">b</p>'],
  ["a void element with children", "<br>a</br>"],
  ["an image with a value inside", "<svg>{a}</svg>"],
])("leaves %s as it is", (_, markup) => {
  expect(emit(markup)).toBe(markup);
});

it("has no templates in a module with a comment that may select another JSX library", () => {
  const code = "/** @jsxImportSource satori */\nconst markup = <p>a</p>;";
  expect(emitMarkup(code)).toBe(code);
});

it("evaluates expressions once, in the order of JSX", async () => {
  const code = "const markup = () => <p key={f(1)} class={f(2)}><A b={f(3)} />{f(4)}<b>{f(5)}</b></p>;";
  const orders = await Promise.all(
    [false, true].map(async (hasTemplates) => {
      const order: number[] = [];
      const scope = { A: () => null, f: (n: number) => order.push(n) };
      (await evaluateMarkup<() => unknown>(code, scope, hasTemplates))();
      return order;
    }),
  );
  expect(orders).toEqual([[2, 3, 4, 5, 1], [2, 3, 4, 5, 1]]); // biome-ignore format: one line
});

it("uses no name that the module has", async () => {
  const code =
    "const _markup = 1, _markup0 = 2, __markup3 = 3; const markup = () => <p>{_markup}{_markup0}{__markup3}</p>;";
  const markup = await evaluateMarkup<() => { props: { children: unknown } }>(code, {});
  expect(markup().props.children).toEqual([1, 2, 3]);
});

it("has functions that exist before the module has run, as in a cycle of imports", async () => {
  const code =
    "const early = render(); function render() { return [1, 2].map(() => <p>a</p>).length } const markup = () => early;";
  expect((await evaluateMarkup<() => number>(code, {}))()).toBe(2);
});

it("maps every expression to its place in the source, so that stacks have its line and column", () => {
  const code = [
    "export const markup = (row) => (",
    "  <tr key={keyOf(row)}>",
    "    <td>",
    "      <a href={`/${idOf(row)}`}>{nameOf(row)}</a>",
    "    </td>",
    "    <Total of={totalOf(row)} />",
    "    {row.tags.map((tag) => <i>{tagOf(tag)}</i>)}",
    "  </tr>",
    ");",
  ].join("\n");
  const compiled = emitServerCode(
    readModule({ file: "/app/a.tsx", code }, "/app"),
    { functions: [], queries: [] },
    "/app",
    { hasTemplates: true },
  );
  if (!compiled) throw new Error("The module has no templates.");
  const map = new SourceMap(JSON.parse(compiled.map.toString()));
  for (const name of ["keyOf", "idOf", "nameOf", "Total", "totalOf", "tagOf"]) {
    expect(locationOf(compiled.code, name), name).toBeDefined();
    const { line, column } = locationOf(compiled.code, name);
    const { originalLine, originalColumn } = map.findEntry(line, column) as {
      originalLine: number;
      originalColumn: number;
    };
    expect({ line: originalLine, column: originalColumn }, name).toEqual(locationOf(code, name));
  }
});

/** Returns the first place of a name, both from 0. */
function locationOf(code: string, name: string): { line: number; column: number } {
  const before = code.slice(0, code.indexOf(`${name}`)).split("\n");
  return { line: before.length - 1, column: before.at(-1)?.length ?? 0 };
}
