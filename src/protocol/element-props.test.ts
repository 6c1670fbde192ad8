import { expect, it } from "vitest";
import { invalidPropMessage } from "./element-checks.ts";

it.each<[string, object, string]>([
  ["an object as class", { class: { active: true } }, "The attribute class of <p> is an object. It takes a text"],
  ["an array as class", { class: ["a", "b"] }, "The attribute class of <p> is an array. It takes a text"],
  ["an object as className", { className: {} }, "`className={[isOpen"],
  ["an array as style", { style: [{ color: "red" }] }, "It takes one object, or a text"],
  [
    "a text as inner HTML",
    { dangerouslySetInnerHTML: "<b>x</b>" },
    "is a value of the type string. It takes an object",
  ],
  [
    "an object without __html",
    { dangerouslySetInnerHTML: { html: "x" } },
    "dangerouslySetInnerHTML={{ __html: html }}",
  ],
  [
    "a text as a handler",
    { onClick: "clicked" },
    "onClick of <p> is a text, not a function. Write `onClick={() => …}`",
  ],
  ["a number as a handler", { onClick: 5 }, "onClick of <p> is a number, not a function"],
  ["true as a handler", { onFocus: true }, "onFocus of <p> is a boolean, not a function"],
  ["a promise as a handler", { onClick: Promise.resolve() }, "Write `onClick={() => save()}`, or `onClick={save}`"],
])("rejects %s", (_, props, message) => expect(invalidPropMessage("p", props)).toContain(message));

it.each<[string, object]>([
  ["a text, a number and nothing", { class: "a", className: 5, style: "color: red", onClick: undefined, title: null }],
  ["an object that becomes a text", { class: { toString: () => "a" } }],
  ["an instance of String", { class: Object("a") }],
  ["an object as style", { style: { color: "red" } }],
  ["HTML", { dangerouslySetInnerHTML: { __html: "<b>x</b>" } }],
  ["no HTML", { dangerouslySetInnerHTML: undefined }],
  ["a condition for HTML", { dangerouslySetInnerHTML: false }],
  ["handlers", { onClick: () => 1, onInput: { handleEvent: () => 1 }, onBlur: null, onFocus: undefined }],
  ["conditions without a handler", { onClick: false, onInput: 0, onBlur: "" }],
  ["a handler of HTML", { onclick: "void 0" }],
  ["other attributes", { value: ["a", "b"], ref: { current: null }, data: {}, once: Promise.resolve() }],
  ["children", { children: [Promise.resolve()] }],
])("accepts %s", (_, props) => expect(invalidPropMessage("p", props)).toBeUndefined());

it.each(["disabled", "checked", "required", "readOnly", "multiple", "hidden", "open", "noValidate", "autofocus"])(
  "rejects the text false as the attribute %s, which it turns on",
  (name) => {
    expect(invalidPropMessage("input", { [name]: "false" })).toBe(
      `The attribute ${name} of <input> is the text "false". Any text turns it on. Write \`${name}={false}\`, or leave it out.`,
    );
    for (const value of [false, true, "", name, "until-found", undefined]) {
      expect(invalidPropMessage("input", { [name]: value })).toBeUndefined();
    }
  },
);

it.each([
  "draggable",
  "contentEditable",
  "spellcheck",
  "aria-hidden",
  "aria-checked",
  "value",
  "data-open",
  "download",
])("accepts the text false as the attribute %s, which is a value of it", (name) =>
  expect(invalidPropMessage("p", { [name]: "false" })).toBeUndefined(),
);

it("rejects a text area with two different texts", () => {
  expect(invalidPropMessage("textarea", { value: "new", children: "old" })).toBe(
    "The <textarea> has children and `value`, which are different texts. Leave out the children.",
  );
  expect(invalidPropMessage("textarea", { defaultValue: "new", children: "old" })).toContain(
    "and `defaultValue`, which",
  );
  expect(invalidPropMessage("textarea", { value: "", children: 5 })).toContain("children and `value`");
});

it.each([
  { children: "old" },
  { children: "1", value: 1 },
  { value: "x", children: undefined },
  { children: ["a", "b"] },
])("accepts a text area with one text: %j", (props) => expect(invalidPropMessage("textarea", props)).toBeUndefined());

it("accepts everything for a custom element", () => {
  expect(invalidPropMessage("my-list", { class: {}, onClick: Promise.resolve(), open: "false" })).toBeUndefined();
});
