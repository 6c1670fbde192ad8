import type { VNode } from "preact";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { jsxDEV } from "../../jsx-dev-runtime.ts";
import { checkMarkup } from "./markup-checks.ts";
import { reportWarning } from "./report.ts";

vi.mock("./report.ts", () => ({ reportWarning: vi.fn() }));

beforeEach(() => {
  vi.mocked(reportWarning).mockClear();
});

const source = { fileName: "/app/src/book.tsx", lineNumber: 7, columnNumber: 9 };
const onChange = () => {};
const onInput = () => {};

/** Returns an element as the compiler creates it in development. */
function element(type: string, props: object, file = source.fileName): VNode {
  const create = jsxDEV as (...node: readonly unknown[]) => VNode; // Preact's types omit parameters
  return create(type, props, undefined, false, { ...source, fileName: file }, undefined);
}

describe("a text field with value and onChange", () => {
  test.each<[string, object]>([
    ["input", {}],
    ["input", { type: "text" }],
    ["input", { type: "email" }],
    ["textarea", {}],
  ])("is reported, with its location and the fix: <%s> %j", (type, props) => {
    const form = element("form", { children: [element(type, { value: "", onChange, ...props })] });
    checkMarkup(form, "Book");
    expect(reportWarning).toHaveBeenCalledOnce();
    const [warning] = vi.mocked(reportWarning).mock.calls[0] ?? [];
    expect(warning?.message).toMatch(/^The <\w+> has `value` and `onChange`.*loses the focus.*Use `onInput`\./);
    expect(warning?.source).toEqual(source);
  });

  test.each<[string, VNode]>([
    ["with onInput", element("input", { value: "", onChange, onInput })],
    ["with the event that preact/compat puts in its place", element("input", { value: "", oninput: onInput })],
    ["without value", element("input", { onChange })],
    ["with defaultValue", element("input", { defaultValue: "", onChange })],
    ["that is a checkbox", element("input", { type: "checkbox", value: "a", onChange })],
    ["that is a range", element("input", { type: "range", value: 1, onChange })],
    ["that is read-only", element("input", { value: "", onChange, readOnly: true })],
    ["that is a select", element("select", { value: "a", onChange })],
    ["of a package", element("input", { value: "", onChange }, "/app/node_modules/ui/field.tsx")],
  ])("is not reported %s", (_, node) => {
    checkMarkup(node, "Book");
    expect(reportWarning).not.toHaveBeenCalled();
  });
});
