import { expect, test } from "vitest";
import { compileErrorOf, parseMarkedCode, readTestModule } from "#test/in-memory-modules";
import { checkFieldNames } from "./field-names.ts";

const inComponent = (markup: string) => `export const A = ({ items, s }) => (\n${markup}\n);`;

const check = (code: string) => checkFieldNames(readTestModule("src/a.tsx", code));

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
  const code = inComponent(markup);
  const error = await compileErrorOf(async () => check(code));
  expect(error.message).toContain(message);
  expect(error.loc).toEqual({ file: "/app/src/a.tsx", ...parseMarkedCode(code).location });
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
  check(inComponent(markup));
});
