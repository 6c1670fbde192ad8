import { h } from "preact";
import { beforeEach, expect, test, vi } from "vitest";
import { checkStyleNames } from "./markup-checks.ts";
import { reportWarning } from "./report.ts";

vi.mock("./report.ts", () => ({ reportWarning: vi.fn() }));

/** What a browser's style declaration has. */
const STYLE = { color: "", backgroundColor: "", "background-color": "", webkitAppearance: "", cssText: "", margin: "" };

beforeEach(() => vi.mocked(reportWarning).mockClear());

function warningsOf(style: unknown, type = "p", fileName = "/app/src/a.tsx"): string[] {
  const source = { fileName, lineNumber: 3, columnNumber: 4 };
  checkStyleNames(Object.assign(h(type, { style } as object), { __source: source }), STYLE);
  return vi.mocked(reportWarning).mock.calls.map(([{ message }]) => message);
}

test.each([
  ["colour", "color"],
  ["backgroudColor", "backgroundColor"],
  ["bacground-color", "backgroundColor"],
])("the misspelled property %s is reported with %s", (name, similar) => {
  expect(warningsOf({ [name]: "red", margin: 0 })).toEqual([
    `The style of this <p> has the unknown property "${name}", which browsers ignore. Did you mean "${similar}"?`,
  ]);
  expect(vi.mocked(reportWarning).mock.calls[0]?.[0].source).toMatchObject({ lineNumber: 3 });
});

test.each([
  { color: "red", backgroundColor: "red", "background-color": "red", cssText: "" },
  { "--colour": "red", WebkitColour: "red", MozColour: "red", "-webkit-colour": "red", msColour: "red" },
  { textBoxTrim: "none", anchorName: "--a" },
  "colour: red",
  undefined,
  null,
])("another style is accepted: %j", (style) => {
  expect(warningsOf(style)).toEqual([]);
});

test("an element of a package is not reported", () => {
  expect(warningsOf({ colour: "red" }, "p", "/app/node_modules/a/index.js")).toEqual([]);
});
