import { describe, expect, test } from "vitest";
import { compileErrorAt, compileErrorOf, readTestModule } from "#test/in-memory-modules";

const HEAD = 'import { on_mount, state, view } from "tsweb/browser";\n';

const read = (code: string, file = "src/counter.tsx") => readTestModule(file, HEAD + code);

const inView = (statements: string, markup: string) =>
  `export const Counter = view(({ start, items }) => { ${statements} return <div>${markup}</div>; });`;

describe("a variable of a view that only event handlers change", () => {
  test.each([
    ["let n = 0;", "<button onClick={() => { «n++; }}>{n}</button>"],
    ["let n = 0;", "<button onClick={() => «n++}>{n}</button>"],
    ["var n = 0;", "<button onClick={() => («n += 1)}>{n}</button>"],
    ["let n: number = start;", "<button onClick={() => { «n = n + 1; }}>{n}</button>"],
    ["let n = 0; const add = () => { «n++; console.log(n); };", "<button onClick={add}>{n}</button>"],
    ["let n = 0; function add() { «++n; }", "<p title={String(n)}><button onClick={() => add()} /></p>"],
    ["let data = []; on_mount(async () => { «data = await load(); });", "{data.map((item) => <p>{item}</p>)}"],
    ["let data; on_mount(() => { load().then((all) => { «data = all; }); });", "{data ? <p>{data}</p> : null}"],
    ["let open = false;", "<button onClick={() => («open = !open)} />{open && <Menu />}"],
    [
      'let filter = "";',
      "<input onInput={(e) => («filter = e.target.value)} />{items.filter((i) => i.includes(filter)).map((i) => <p>{i}</p>)}",
    ],
    ["let chosen = null;", "{items.map((item) => <b onClick={() => { «chosen = item; }}>{chosen}</b>)}"],
    ["let book = { name: '' };", "<b onClick={() => { «book = { ...book, name: 'Ada' }; }}>{book.name}</b>"],
    ["let chosen = null;", "<List onPick={(item) => { «chosen = item; }} chosen={chosen} />"],
  ])("is rejected where it is rendered: %s %s", async (statements, markup) => {
    for (const text of [
      inView(statements, markup),
      `export function Counter({ start, items }) { ${statements} return <div>${markup}</div>; }`,
      `const Own = ({ start, items }) => { ${statements} return <div>${markup}</div>; }; export const Counter = view(Own);`,
    ]) {
      const error = await compileErrorAt("src/counter.tsx", HEAD + text, () => read(text));
      expect(error.message).toMatch(
        /^\w+ is a variable that each rendering creates again, so this assignment is never/,
      );
    }
  });

  test("is reported with a state in its place", async () => {
    const messageOf = async (statements: string, markup: string) =>
      (await compileErrorOf(() => read(inView(statements, markup)))).message;
    expect(await messageOf("let n = 0;", "<button onClick={() => n++}>{n}</button>")).toBe(
      "n is a variable that each rendering creates again, so this assignment is never shown. Use a state: " +
        "`const own = state({ n: 0 })`, and `own.n++` here.",
    );
    expect(await messageOf("let n: string;", "<button onClick={() => { n = 'a'; }}>{n}</button>")).toContain(
      "`const own = state({ n: undefined })`, and `own.n = …` here.",
    );
    const long = `let n = "${"a".repeat(30)}";`;
    expect(await messageOf(long, "<button onClick={() => { n = 'a'; }}>{n}</button>")).toContain("state({ n: … })");
  });

  test.each([
    ["that the body changes", "let n = 0; if (start) n = start;", "<b onClick={() => n++}>{n}</b>"],
    ["that is not rendered", "let n = 0;", "<b onClick={() => n++} />"],
    [
      "that another handler reads",
      "let n = 0; const save = () => add(n);",
      "<b onClick={() => n++} onBlur={save}>{n}</b>",
    ],
    ["that the handler reads", "let n = 0;", "<b onClick={() => { n++; add(n); }}>{n}</b>"],
    ["whose new value is used", "let n = 0;", "<b onClick={() => { book.n = ++n; }}>{n}</b>"],
    ["that rendering changes", "let n = 0;", "{items.map((item) => { n++; return <b onClick={add}>{n}</b>; })}"],
    [
      "that a function changes, which rendering calls",
      "let n = 0; const add = () => { n++; }; add();",
      "<b onClick={add}>{n}</b>",
    ],
    [
      "that a function changes, to which rendering passes items",
      "let n = 0; const add = () => { n++; }; items.forEach(add);",
      "<b onClick={add}>{n}</b>",
    ],
    ["that a function changes, which is no handler", "let n = 0; const add = () => n++; use(add);", "<b>{n}</b>"],
    [
      "that a handler changes by way of a function, and rendering calls the handler",
      "let n = 0; const add = () => { n++; }; const click = () => add(); click();",
      "<b onClick={click}>{n}</b>",
    ],
    ["for an element", "let input; on_mount(() => input.focus());", "<input ref={(e) => { input = e; }} />"],
    ["that is a ref", "let input;", "<input ref={input} onClick={(e) => { input = e; }} />"],
    ["in a loop", "for (let n = 0; n < 2; n++) rows.push(<b onClick={() => n++}>{n}</b>);", "{rows}"],
    ["in a block", "if (start) { let n = 0; rows.push(<b onClick={() => n++}>{n}</b>); }", "{rows}"],
    ["that the body reads", "let n = 0; const text = format(n);", "<b onClick={() => n++}>{n}{text}</b>"],
    ["in a pattern", "let n = 0;", "<b onClick={() => { [n] = items; }}>{n}</b>"],
    ["of a handler", "", "<b onClick={() => { let n = 0; n++; show(<i>{n}</i>); }} />"],
    ["of the same name", "let n = 0;", "<b onClick={() => { let n; n = 1; add(n); }}>{n}</b>"],
    ["that is a state", "const own = state({ n: 0 });", "<b onClick={() => own.n++}>{own.n}</b>"],
  ])("is accepted %s", (_which, statements, markup) => {
    expect(() => read(inView(statements, markup))).not.toThrow();
  });

  test.each([
    ["of a module", "let n = 0; export const Counter = view(() => <b onClick={() => { n++; }}>{n}</b>);"],
    [
      "of a function that creates a component",
      "export const create = () => { let n = 0; return view2(() => <b onClick={() => n++}>{n}</b>); };",
    ],
    [
      "of a function outside of components",
      "export const list = () => { let n = 0; return <b onClick={() => n++}>{n}</b>; };",
    ],
  ])("is accepted if it is a variable %s", (_which, code) => {
    expect(() => read(code)).not.toThrow();
  });
});
