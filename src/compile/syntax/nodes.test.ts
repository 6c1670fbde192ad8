import { expect, test } from "vitest";
import { findNode, keyName, parse } from "./index.ts";

const isProperty = ({ type }: { readonly type: string }) => type === "Property";

test.each([
  ["a: 1", "a"],
  ["a", "a"],
  ["a() {}", "a"],
  ['"a-b": 1', "a-b"],
  ['["a-b"]: 1', "a-b"],
  ["[a]: 1", undefined],
  ["1: 1", "1"],
])("the name of the property { %s } is %j", (property, name) => {
  const found = findNode(parse({ file: "/app/src/a.ts", code: `f({ ${property} });` }), isProperty);
  expect(found?.type === "Property" && keyName(found)).toBe(name);
});
