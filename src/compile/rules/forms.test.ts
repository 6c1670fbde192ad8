import { describe, expect, test } from "vitest";
import { compileErrorAt, inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import { readBrowserImports } from "../browser-imports.ts";
import { checkFieldNames, checkFormActions } from "./forms.ts";

const FILES = {
  "src/data.server.ts": `
    import { server } from "tsweb";
    export const save = server((name: string) => name);
    export const numbers = server(function* (to: number) { yield to; });
    export const plain = () => 1;
    export const next = server(async (name: string) => 1);
  `,
  "src/barrel.ts": 'export { save, numbers } from "./data.server.ts"; export const other = () => 1;',
};

const HEAD = [
  'import { form } from "tsweb/browser"; import { save, numbers, next, plain } from "./data.server.ts";',
  'import * as data from "./data.server.ts";',
  'import { save as passed, numbers as streamed, other } from "./barrel.ts";',
  "const here = () => 1; const url = '/search'; function local() {}",
  "",
].join("\n");

const checkActions = (text: string, file = "src/a.tsx") =>
  checkFormActions(readTestModule(file, text), inMemoryResolver(FILES));

describe("the action of a form", () => {
  const NO_SERVER_FUNCTION = /^The action of a form must be a server function/;
  const STREAM = /^A stream cannot be the action of a form/;
  const BOUND = /^bind\(\) does not work for the action of a form.*hidden field/;
  const NO_FORM_FUNCTION = /^This button calls a server function, but its form has none/;

  test.each([
    ["<form action={«() => {}} />", NO_SERVER_FUNCTION],
    ["<form action={«async (data) => {}} />", NO_SERVER_FUNCTION],
    ["<form action={«here} />", NO_SERVER_FUNCTION],
    ["<form action={«local} />", NO_SERVER_FUNCTION],
    ["<form action={ok ? save : «here} />", NO_SERVER_FUNCTION],
    ["<form action={«data.plain} />", NO_SERVER_FUNCTION],
    ["<form action={save}><button formAction={«here} /></form>", NO_SERVER_FUNCTION],
    ["<form action={save}><input type='submit' formAction={«() => 1} /></form>", NO_SERVER_FUNCTION],
    ["<form action={«save.bind(null, 1)} />", BOUND],
    ["<form action={«data.save.bind(null, 1)} />", BOUND],
    ["<form action={save}><button formAction={«passed.bind(null, 1) as any} /></form>", BOUND],
    ["<form action={form(«plain)} />", NO_SERVER_FUNCTION],
    ["<form action={«numbers} />", STREAM],
    ["<form action={«data.numbers} />", STREAM],
    ["<form action={«streamed} />", STREAM],
    ["<form action={save}><button formAction={«numbers} /></form>", STREAM],
    ["<form><button «formAction={save} /></form>", NO_FORM_FUNCTION],
    ["<form action='/x'><p><button «formAction={save} /></p></form>", NO_FORM_FUNCTION],
    ["<form action={'/x'}>{ok && <input «formAction={save} />}</form>", NO_FORM_FUNCTION],
  ])("is rejected: %s", async (markup, message) => {
    for (const file of ["src/a.tsx", "src/a.server.tsx"]) {
      const error = await compileErrorAt(file, `${HEAD}const A = () => ${markup};`, (text) => checkActions(text, file));
      expect(error.message).toMatch(message);
    }
  });

  test.each([
    "<form action={save} />",
    "<form action={data.save} />",
    "<form action={passed} />",
    "<form action={ok ? save : '/x'} />",
    "<form action={url} />",
    "<form action={other.bind(null, 1)} />",
    "<form action={props.save.bind(null, 1)} />",
    "<form action={own(next)} />",
    "<form action={props.action} />",
    "<form action={other} />",
    "<form action={form(save)} />",
    "<form action={save}><button formAction={passed} /></form>",
    "<form {...props}><button formAction={save} /></form>",
    "<form action={props.action}><button formAction={save} /></form>",
    "<form><button formAction='/x' /></form>",
    "<button formAction={save} />",
    "<Form action={here} />",
    "<form onSubmit={here} />",
  ])("is accepted: %s", async (markup) => {
    await expect(checkActions(`${HEAD}const A = (props) => ${markup};`)).resolves.toBeUndefined();
  });
});

describe("the action of a form in a server module", () => {
  const head = 'import { form, server } from "tsweb";';

  test("may be a function of the module itself", async () => {
    const text = `${head} export const save = server((name: string) => name); const A = () => <form action={save} />;`;
    await expect(checkActions(text, "src/a.server.tsx")).resolves.toBeUndefined();
  });
});

describe("a module of the browser", () => {
  const compile = async (code: string) => {
    const { compiled } = await readBrowserImports(readTestModule("src/a.tsx", code), inMemoryResolver(FILES));
    return compiled;
  };

  test.each([
    'import { save } from "./data.server.ts"; const A = () => <form action={save} />;',
    'import { passed } from "./barrel.ts"; const A = () => <form action={passed} />;',
    "const A = (props) => <form action={props.action} />;",
    "const A = (props) => <button formAction={ok ? props.save : '/x'} />;",
    "const A = (props) => <Form action={props.save} />;",
    'import { save } from "./data.server.ts"; const A = () => h("form", { action: save });',
    'import { save } from "./data.server.ts"; const A = () => h("button", { "formAction": save });',
    'import { save as action } from "./data.server.ts"; const props = { action };',
    'import { save } from "./barrel.ts"; const props = { action: save as any };',
    'import { save } from "./data.server.ts"; props.action = save;',
    'import { save } from "./data.server.ts"; props["formAction"] = save;',
    'import { form } from "tsweb/browser"; export const use = () => form(save);',
    'import { form as f } from "tsweb/browser";',
  ])("loads the code for forms: %s", async (code) => {
    const compiled = await compile(code);
    expect(compiled?.code).toBe(`${code}\nimport "tsweb/forms";`);
  });

  test.each([
    "const A = () => <form action='/x' />;",
    "const A = () => <form action={'/x'} method='get' />;",
    "const A = () => <form action={`/search`} />;",
    "const A = (props) => <form action={'/users/' + props.id} />;",
    "const A = () => <form action={ok ? '/x' : undefined} />;",
    "const url = '/x'; const A = () => <form action={url} />;",
    "const A = () => <form onSubmit={() => save()} />;",
    "const A = (props) => <form {...props} />;",
    'import { save } from "./data.server.ts"; const A = () => <button onClick={() => save("a")} />;',
    'import { save } from "./data.server.ts"; const query = { queryFn: save };',
    'import { other } from "./barrel.ts"; const reducer = { action: other };',
    'import { form } from "./other.ts";',
    'import type { form } from "tsweb/browser";',
    "const { action } = props; let x = { action: 1 };",
  ])("does not load the code for forms: %s", async (code) => {
    expect(await compile(code)).toBeUndefined();
  });

  test("keeps all positions when it loads the code for forms", async () => {
    const lines = ["// first", 'import { save } from "./data.server.ts";', "const A = () => <form action={save} />;"];
    const compiled = await compile(lines.join("\n"));
    expect(compiled?.code.split("\n").slice(0, 3)).toEqual(lines);
    // One group of segments for each line, and none for the added one.
    expect(compiled?.map.mappings.split(";").map((line) => line.length > 0)).toEqual([true, true, true, false]);
  });
});

const inComponent = (markup: string) => `export const A = ({ items, s }) => (\n${markup}\n);`;

const checkNames = (code: string) => checkFieldNames(readTestModule("src/a.tsx", code));

test.each([
  [
    '<form><input «name="childNodes" /></form>',
    "A field named `childNodes` hides the member of its form that Preact needs. Rename the field and the parameter.",
  ],
  ["<form><p>{items.map((item) => <select key={item} «name={'localName'} />)}</p></form>", "A field named `localName`"],
  ["<p><form><Box label={<textarea «name={`insertBefore`} />} /></form></p>", "A field named `insertBefore`"],
  ['<form><input «name="nextSibling" /></form>', "A field named `nextSibling`"],
  ['<form>{s.a && <button «name="remove">x</button>}</form>', "A field named `remove`"],
  [
    '<form><fieldset><img alt="" «id="customElementRegistry" /></fieldset></form>',
    "A field with the id `customElementRegistry` hides the member of its form that Preact needs. Give it another id.",
  ],
])("is rejected: %s", async (markup, message) => {
  const error = await compileErrorAt("src/a.tsx", inComponent(markup), checkNames);
  expect(error.message).toContain(message);
});

test.each([
  ...["reset", "contains", "submit", "elements", "action", "method", "id", "name", "requestSubmit"].map(
    (name) => `<form><input name="${name}" id="${name}" /></form>`,
  ),
  '<input name="childNodes" />',
  '<Form><input name="childNodes" /></Form>',
  '<form><Field name="childNodes" /><p id="remove" /><label for="remove" /></form>',
  '<form id="remove"><input name={s.childNodes} value="childNodes" /></form>',
])("is accepted: %s", (markup) => {
  checkNames(inComponent(markup));
});
