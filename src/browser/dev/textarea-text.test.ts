import type { VNode } from "preact";
import { beforeEach, expect, test, vi } from "vitest";
import { jsxDEV } from "../../jsx-dev-runtime.ts";
import { checkTextareaText } from "./form-checks.ts";
import { reportWarning } from "./report.ts";

vi.mock("./report.ts", () => ({ reportWarning: vi.fn() }));

beforeEach(() => {
  vi.mocked(reportWarning).mockClear();
});

const SOURCE = { fileName: "/app/src/book.tsx", lineNumber: 7, columnNumber: 9 };

/** A text area of a page: `value` is its text after the user has typed, else its default value. */
class TextArea {
  defaultValue = "";
  typed: string | undefined;

  get value(): string {
    return this.typed ?? this.defaultValue.replaceAll("\r\n", "\n");
  }

  /** Renders it as Preact does, and checks it. */
  render(props: object, { type = "textarea", file = SOURCE.fileName } = {}): void {
    const create = jsxDEV as (...node: readonly unknown[]) => VNode; // Preact's types omit parameters
    const node = create(type, props, undefined, false, { ...SOURCE, fileName: file }, undefined);
    const { children } = node.props;
    if (typeof children === "string" || typeof children === "number") this.defaultValue = String(children);
    checkTextareaText(Object.assign(node, { __e: this }));
  }
}

test("children that the browser does not show are reported, with their location and the fix", () => {
  const area = new TextArea();
  area.render({ children: "" });
  area.typed = "Hello";
  area.render({ children: "" });
  area.render({ children: "Hello" });
  expect(reportWarning, "the user sees what is rendered").not.toHaveBeenCalled();
  area.render({ children: "" });
  expect(reportWarning).toHaveBeenCalledOnce();
  const [warning] = vi.mocked(reportWarning).mock.calls[0] ?? [];
  expect(warning?.message).toContain("The new children of this <textarea> are not shown");
  expect(warning?.message).toContain("Write `<textarea value={text} onInput={…} />`");
  expect(warning?.source).toEqual(SOURCE);
});

const OLD = { children: "old" };

test.each<[string, string | undefined, object, Parameters<TextArea["render"]>[1]]>([
  ["that nobody has changed", undefined, { children: "new\r\ntext" }, {}],
  ["with a value", "x", { children: "new", value: "x" }, {}],
  ["with the same children", "x", OLD, {}],
  ["of a package", "x", { children: "new" }, { file: "/app/node_modules/a/b.js" }],
  ["that is another element", "x", { children: "new" }, { type: "option" }],
])("a text area is not reported %s", (_, typed, props, options) => {
  const area = new TextArea();
  area.render(OLD);
  area.typed = typed;
  area.render(props, options);
  expect(reportWarning).not.toHaveBeenCalled();
});
