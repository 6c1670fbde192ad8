import { type ComponentChild, type ComponentChildren, Fragment, type VNode } from "preact";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { jsxDEV } from "../../jsx-dev-runtime.ts";
import { checkMarkup } from "./markup-checks.ts";
import { reportWarning } from "./report.ts";

vi.mock("./report.ts", () => ({ reportWarning: vi.fn() }));

let line = 0;

beforeEach(() => {
  vi.mocked(reportWarning).mockClear();
  line += 100; // a place is reported once
});

/** Returns an element as the compiler creates it in development. */
function element(type: unknown, children: unknown, at: { line: number; key?: string; file?: string }): VNode {
  const create = jsxDEV as (...node: readonly unknown[]) => VNode; // Preact's types omit parameters
  const source = { fileName: at.file ?? "/app/src/book.tsx", lineNumber: line + at.line, columnNumber: 9 };
  return create(type, { children }, at.key, false, source, undefined);
}

/** Returns an element with several children, written one after the other. */
function fragment(...children: unknown[]): VNode {
  const create = jsxDEV as (...node: readonly unknown[]) => VNode; // Preact's types omit parameters
  return create(Fragment, { children }, undefined, true, undefined, undefined);
}

const names = ["Ada", "Grace", "Joan"];
const item = (name: string) => element("li", name, { line: 1 });

describe("a list without keys", () => {
  function Row() {
    return null;
  }
  const Named = Object.assign(() => null, { displayName: "Entry" });

  test.each<[string, () => ComponentChild, string]>([
    ["in an element", () => element("ul", names.map(item), { line: 2 }), "<li>"],
    ["beside another child", () => fragment("Guests: ", names.map(item)), "<li>"],
    ["deep in the markup", () => element("main", fragment(fragment("a", names.map(item)), "b"), { line: 2 }), "<li>"],
    [
      "of components",
      () =>
        element(
          "ul",
          names.map(() => element(Row, "", { line: 1 })),
          { line: 2 },
        ),
      "<Row>",
    ],
    [
      "of named components",
      () =>
        element(
          "ul",
          names.map(() => element(Named, "", { line: 1 })),
          { line: 2 },
        ),
      "<Entry>",
    ],
    [
      "of fragments",
      () =>
        element(
          "ul",
          names.map(() => element(Fragment, "", { line: 1 })),
          { line: 2 },
        ),
      "<Fragment>",
    ],
    ["with a key on some", () => fragment([element("li", "", { line: 1, key: "a" }), ...names.map(item)], ""), "<li>"],
  ])("%s is reported once, with the place of its elements", (_what, create, tag) => {
    for (let renderings = 0; renderings < 3; renderings++) checkMarkup(create(), "GuestBook");
    expect(vi.mocked(reportWarning).mock.calls).toHaveLength(1);
    const [warning] = vi.mocked(reportWarning).mock.calls[0] ?? [];
    expect(warning?.message).toContain(`The ${tag} elements of a list in GuestBook have no key.`);
    expect(warning?.source).toMatchObject({ fileName: "/app/src/book.tsx", lineNumber: line + 1 });
  });

  test("that a component returns is reported", () => {
    checkMarkup(names.map(item), "GuestBook");
    expect(reportWarning).toHaveBeenCalledOnce();
  });
});

describe("a list with equal keys", () => {
  const keyed = (key: unknown) => element("li", "", { line: 1, key: key as string });

  test("is reported once, with the key and the place of its elements", () => {
    for (let renderings = 0; renderings < 3; renderings++)
      checkMarkup(element("ul", ["Ada", "Grace", "Ada", "Grace"].map(keyed), { line: 2 }), "GuestBook");
    expect(vi.mocked(reportWarning).mock.calls).toHaveLength(1);
    const [warning] = vi.mocked(reportWarning).mock.calls[0] ?? [];
    expect(warning?.message).toBe(
      'Two <li> elements of a list in GuestBook have the same key, "Ada". When the list changes, what the user has typed, ' +
        "and the state of components, would move from one to the other. Use a value that is different for each element, such " +
        "as an id: <li key={item.id}>.",
    );
    expect(warning?.source).toMatchObject({ fileName: "/app/src/book.tsx", lineNumber: line + 1 });
  });

  test("is reported with a short text of a long key, and of a number", () => {
    checkMarkup(["x".repeat(1000), "x".repeat(1000)].map(keyed), "GuestBook");
    line += 100;
    checkMarkup([0, "0"].map(keyed), "GuestBook");
    const messages = vi.mocked(reportWarning).mock.calls.map(([warning]) => warning.message);
    expect(messages[0]).toContain(`the same key, "${"x".repeat(60)}". `);
    expect(messages[1]).toContain('the same key, "0". ');
  });

  test.each<[string, () => ComponentChild]>([
    ["whose keys are objects", () => element("ul", [{}, {}].map(keyed), { line: 2 })],
    ["in each of two lists", () => fragment(["Ada"].map(keyed), ["Ada"].map(keyed))],
    [
      "whose equal keys belong to elements that different expressions have created",
      () => element("ul", [keyed("Ada"), element("li", "", { line: 2, key: "Ada" })], { line: 3 }),
    ],
    // `<Field key={version} name="a" /><Field key={version} name="b" />` resets both fields.
    ["that is written as elements one after the other", () => fragment(keyed("Ada"), keyed("Ada"))],
  ])("is not reported if it is one %s", (_what, create) => {
    checkMarkup(create(), "GuestBook");
    expect(reportWarning).not.toHaveBeenCalled();
  });
});

describe("nothing is reported for", () => {
  const sameElement = () => element("hr", "", { line: 3 });
  const children = (): ComponentChildren => {
    const { props } = fragment(sameElement(), "text", sameElement());
    return props.children;
  };

  test.each<[string, () => ComponentChild]>([
    [
      "a list with keys",
      () =>
        fragment(
          names.map((name) => element("li", name, { line: 1, key: name })),
          "",
        ),
    ],
    [
      "children written one after the other, made by one function",
      () => fragment(sameElement(), "text", sameElement()),
    ],
    ["such children that a component renders", () => element("div", children(), { line: 2 })],
    ["an array literal", () => fragment([element("li", "", { line: 1 }), element("li", "", { line: 2 })], "")],
    ["a list of texts", () => element("p", names, { line: 2 })],
    ["a list with one element", () => element("ul", ["Ada"].map(item), { line: 2 })],
    [
      "a package",
      () =>
        fragment(
          names.map(() => element("li", "", { line: 1, file: "/app/node_modules/rows/index.jsx" })),
          "",
        ),
    ],
    ["the children of a component, which may not be rendered", () => element(() => null, names.map(item), { line: 2 })],
  ])("%s", (_what, create) => {
    checkMarkup(create(), "GuestBook");
    expect(reportWarning).not.toHaveBeenCalled();
  });
});
