import { createRef, type VNode } from "preact";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { jsxDEV } from "../../jsx-dev-runtime.ts";
import { checkUnhandledField, type PlacedNode } from "./form-checks.ts";
import { reportWarning } from "./report.ts";

vi.mock("./report.ts", () => ({ reportWarning: vi.fn() }));

beforeEach(() => {
  vi.mocked(reportWarning).mockClear();
});

const source = { fileName: "/app/src/book.tsx", lineNumber: 7, columnNumber: 9 };

/** Returns an element as the compiler creates it in development, inside other elements, the nearest first. */
function element(type: string, props: object, around: readonly VNode[] = [], file = source.fileName): PlacedNode {
  const create = jsxDEV as (...node: readonly unknown[]) => VNode; // Preact's types omit parameters
  const node = create(type, props, undefined, false, { ...source, fileName: file }, undefined);
  const [next, ...others] = around;
  return Object.assign(node, { __: next ? element(String(next.type), next.props, others) : null });
}

describe("a field with a value and without an event handler", () => {
  test.each<[string, object, string]>([
    [
      "input",
      { value: "" },
      "Add `onInput` and assign the new value to the state, or use `defaultValue`, or add `readOnly`.",
    ],
    ["input", { value: "a", type: "email" }, "Add `onInput`"],
    ["input", { value: 1, type: "range" }, "Add `onInput`"],
    ["input", { value: "", onInput: undefined }, "Add `onInput`"],
    ["textarea", { value: "" }, "Add `onInput`"],
    [
      "select",
      { value: "a" },
      "Add `onChange` and assign the new value to the state, or set `selected` on an <option>",
    ],
    [
      "input",
      { type: "checkbox", checked: false },
      "Add `onChange` and assign the new value to the state, or use `defaultChecked`.",
    ],
  ])("is reported, with its location and the fix: <%s> %j", (type, props, fix) => {
    checkUnhandledField(element(type, props, [element("form", { onSubmit: () => {} })]));
    expect(reportWarning).toHaveBeenCalledOnce();
    const [warning] = vi.mocked(reportWarning).mock.calls[0] ?? [];
    expect(warning?.message).toContain("no event handler, so each rendering discards what the user has entered.");
    expect(warning?.message).toContain(fix);
    expect(warning?.source).toEqual(source);
  });

  const handle = () => {};
  test.each<[string, PlacedNode]>([
    ["with onInput", element("input", { value: "", onInput: handle })],
    ["with another event handler", element("input", { value: "", onKeyDown: handle })],
    ["with the handler of preact/compat", element("input", { value: "", oninput: handle })],
    ["with a handler of the capture phase", element("input", { value: "", onInputCapture: handle })],
    ["that is read-only", element("input", { value: "", readOnly: true })],
    ["that is disabled", element("input", { value: "", disabled: true })],
    ["that belongs to a form by its name", element("input", { value: "", name: "text" })],
    ["that is read by a ref", element("input", { value: "", ref: createRef() })],
    ["without a value", element("input", { value: undefined })],
    ["with defaultValue", element("input", { defaultValue: "" })],
    ["with a signal as its value", element("input", { value: { value: "" } })],
    ["that is hidden", element("input", { type: "hidden", value: "a" })],
    ["that is a button", element("input", { type: "submit", value: "Send" })],
    ["that is a checkbox with a value", element("input", { type: "checkbox", value: "a" })],
    ["that is an option", element("option", { value: "a" })],
    ["that is a button element", element("button", { value: "a" })],
    [
      "in a form that handles its input",
      element("input", { value: "" }, [element("p", {}), element("form", { onInput: handle })]),
    ],
    ["in a disabled group", element("input", { value: "" }, [element("fieldset", { disabled: true })])],
    ["of a package", element("input", { value: "" }, [], "/app/node_modules/ui/field.tsx")],
  ])("is not reported %s", (_, node) => {
    checkUnhandledField(node);
    expect(reportWarning).not.toHaveBeenCalled();
  });
});
