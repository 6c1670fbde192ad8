import { expect, it } from "vitest";
import { invalidPropMessage } from "./element-props.ts";

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
  ["handlers", { onClick: () => 1, onInput: { handleEvent: () => 1 }, onBlur: null, onFocus: "void 0" }],
  ["other attributes", { value: ["a", "b"], ref: { current: null }, data: {}, once: Promise.resolve() }],
  ["children", { children: [Promise.resolve()] }],
])("accepts %s", (_, props) => expect(invalidPropMessage("p", props)).toBeUndefined());

it("accepts everything for a custom element", () => {
  expect(invalidPropMessage("my-list", { class: {}, onClick: Promise.resolve() })).toBeUndefined();
});
