import { createContext, Fragment, h } from "preact";
import { forwardRef, lazy, memo, Suspense } from "preact/compat";
import { describe, expect, it } from "vitest";
import * as components from "./element-checks.ts";
import { invalidTypeMessage } from "./element-checks.ts";

describe("the type of an element", () => {
  it.each([
    ["p"],
    ["h1"],
    ["my-element"],
    ["svg:path"],
    ["feColorMatrix"],
    ["x-ä.b_1"],
    ["DIV"],
    [() => null],
    [class {}],
    [Fragment],
    [createContext(0)],
    [createContext(0).Provider],
    [memo(() => null)],
    [forwardRef(() => null)],
    [lazy(async () => ({ default: () => null }))],
    [Suspense],
    [Symbol.for("react.suspense")],
    [{ $$typeof: Symbol.for("react.memo") }],
  ])("may be %o", (type) => expect(invalidTypeMessage(type)).toBeUndefined());

  it.each<[string, unknown, string]>([
    ["undefined", undefined, "is undefined. Check its import"],
    ["null", null, "is null. Check its import"],
    ["a number", 5, "is 5."],
    ["a boolean", false, "is false."],
    ["an object", { a: 1 }, "is an object."],
    ["an array", [], "is an array."],
    ["a promise", Promise.resolve(), "is a promise."],
    ["an element", h("p", null), "is an element already. Render it as a value: `{row}` in place of `<row />`."],
    ["a URL", "/assets/icon-1.svg", 'is the URL "/assets/icon-1.svg"'],
    ["another URL", "https://example.com/a.png", 'Write `<img src={url} alt="" />`'],
    ["an inlined image", `data:image/svg+xml,${"a".repeat(500)}`, 'aaa…"'],
    ["a text with spaces", "Hello world", 'has the name "Hello world". Use the name of an element of HTML'],
    ["an empty text", "", 'has the name "".'],
    ["a number as a text", "1", 'has the name "1".'],
    ["markup", "<p", 'has the name "<p".'],
    ["a module", components, "is a module: its import has the form `import * as name`"],
  ])("must not be %s", (_, type, message) => expect(invalidTypeMessage(type)).toContain(message));

  it("is named in the message of a module", () => {
    expect(invalidTypeMessage(components)).toContain('`import { invalidTypeMessage } from "…"`');
  });
});
