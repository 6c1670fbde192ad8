import { describe, expect, test } from "vitest";
import { compileErrorAt, compileErrorOf, readTestModule } from "#test/in-memory-modules";

const HEAD =
  'import { on_mount, state, state as store, view } from "tsweb/browser";\nimport * as web from "tsweb/browser";\n';

const read = (code: string) => readTestModule("src/book.tsx", HEAD + code);

/** A view with a state, and what it contains. */
const inView = (statements: string, markup: string, init = 'const book = state({ name: "", error: "" });') =>
  `export const Book = view(() => { ${init} ${statements} return <form>${markup}</form>; });`;

describe("an assignment to a destructured state", () => {
  test.each([
    ["let { name } = book;", "<input value={name} onInput={(event) => («name = event.target.value)} />"],
    ["var { name } = book;", "<button onClick={() => { «name = 'Ada'; }}>{name}</button>"],
    [
      "let { name, error } = book; const sign = async () => { try { await add(name); } catch (e) { «error = e.message; } };",
      "<button onClick={sign}>{error}</button>",
    ],
    [
      "let { name } = book; function sign() { add(name); «name = ''; }",
      "<button onClick={() => sign()}>{name}</button>",
    ],
    ["let { name = 'Ada' } = book; on_mount(() => { «name = 'Grace'; });", "<b>{name}</b>"],
    ["let { name: typed } = book;", "<button onClick={() => { «typed += '!'; }}>{typed}</button>"],
  ])("by an event handler is rejected: %s %s", async (statements, markup) => {
    const text = inView(statements, markup);
    const error = await compileErrorAt("src/book.tsx", HEAD + text, () => read(text));
    expect(error.message).toMatch(
      /^(\w+) is a copy, so that this assignment does not change the state\. Write `book\.(?:name|error) = …`\.$/,
    );
  });

  test.each([
    "<button onClick={() => { «n++; }}>{n}</button>",
    "<button onClick={() => «n++}>{n}</button>",
    "<button onClick={() => («n = n + 1)}>{n}</button>",
    "<button onClick={() => { «n -= 1; }}>{n}</button>",
  ])("by an operator is rejected, also of a state without a name: %s", async (markup) => {
    for (const [init, fix] of [
      ["let { n } = state({ n: 0 });", "Write `const own = state({ … })`, and `own.n = …` here."],
      ["const book = state({ n: 0 }); let { n } = book;", "Write `book.n = …`."],
    ] as const) {
      const text = inView("", markup, init);
      const error = await compileErrorAt("src/book.tsx", HEAD + text, () => read(text));
      expect(error.message).toBe(`n is a copy, so that this assignment does not change the state. ${fix}`);
    }
  });

  test.each([
    ["while rendering", "let { name } = book; if (!name) name = 'all';", "<b>{name}</b>"],
    [
      "in a callback while rendering",
      "let { name } = book; rows.forEach((row) => { name = name + row; });",
      "<b>{name}</b>",
    ],
    [
      "in a function that rendering calls",
      "let { name } = book; const set = () => { name = 'a'; }; set();",
      "<b>{name}</b>",
    ],
    [
      "of a copy in the handler",
      "",
      "<b onClick={() => { let { name } = book; name = name.trim(); add(name); }}>{book.name}</b>",
    ],
    [
      "that the handler reads later",
      "let { name } = book;",
      "<b onClick={() => { name = name.trim(); add(name); }}>{name}</b>",
    ],
    [
      "that the handler copies back",
      "let { name } = book;",
      "<b onClick={() => { name += '!'; book.name = name; }}>{name}</b>",
    ],
    ["whose new value is used", "let { name } = state({ name: 0 });", "<b onClick={() => add(name++)}>{name}</b>"],
    ["whose value is used", "let { name } = book;", "<b onClick={() => { book.name = name = 'Ada'; }}>{name}</b>"],
    [
      "that another function copies back",
      "let { name } = book; const save = () => Object.assign(book, { name });",
      "<b onClick={() => { name = 'a'; save(); }}>{name}</b>",
    ],
    [
      "in a loop",
      "let { name } = book;",
      "<b onClick={() => { for (const row of rows) { add(name); name = row; } }}>{name}</b>",
    ],
    ["that is not rendered", "let { name } = book;", "<b onClick={() => { name = 'a'; }} />"],
    [
      "of another variable of the name",
      "let { name } = book;",
      "<b onClick={() => { let name; name = 'a'; }}>{name}</b>",
    ],
  ])("is accepted %s", (_where, statements, markup) => {
    expect(() => read(inView(statements, markup))).not.toThrow();
  });

  test("is accepted if the object is no state of tsweb/browser", () => {
    const markup = "<b onClick={() => { name = 'a'; }}>{name}</b>";
    for (const init of [
      "const book = other({});",
      "const book = { name: '' };",
      "const state = other; const book = state({});",
    ]) {
      expect(() => read(inView("let { name } = book;", markup, init)), init).not.toThrow();
    }
  });
});

describe("a new object in the variable of a state", () => {
  test.each([
    ["let book = state({ name: '' });", "<b onClick={() => («book = { ...book, name: 'Ada' })}>{book.name}</b>"],
    [
      "let book = store<Book>({ name: '' });",
      "<b onClick={async () => { «book = { name: 'Ada' } as Book; }}>{book.name}</b>",
    ],
    [
      "let book = web.state({ name: '' }); function sign() { «book = { ...book }; }",
      "<b onClick={sign}>{book.name}</b>",
    ],
  ])("is rejected in an event handler: %s %s", async (init, markup) => {
    const text = inView("", markup, init);
    const error = await compileErrorAt("src/book.tsx", HEAD + text, () => read(text));
    expect(error.message).toBe(
      "book is replaced, which the view does not notice. Assign to its properties: `book.name = …`, or `Object.assign(book, { … })`.",
    );
  });

  test("is rejected for the state of a module", async () => {
    const text = inView("", "<b onClick={() => { book = { name: 'Ada' }; }}>{book.name}</b>", "");
    expect((await compileErrorOf(() => read(`let book = state({ name: "" });\n${text}`))).message).toMatch(
      /^book is repl/,
    );
  });

  test.each([
    ["let book = state({ name: '' }); if (preview) book = { ...book, name: 'x' };", "<b>{book.name}</b>"],
    ["let book = state({ name: '' });", "<b onClick={() => { book = other; }}>{book.name}</b>"],
    [
      "let draft = {}; const book = state({ name: '' });",
      "<b onClick={() => { draft = { ...book }; }}>{book.name}</b>",
    ],
    ["let book = state({ name: '' });", "<b onClick={() => { book.guest = { name: 'a' }; }}>{book.name}</b>"],
  ])("is accepted where it may be intended: %s %s", (init, markup) => {
    expect(() => read(inView("", markup, init))).not.toThrow();
  });
});
