import { expect, it } from "vitest";
import { ShownWarnings } from "./compiler.ts";

it("returns a warning once for each version of a module", () => {
  const warnings = new ShownWarnings();
  const first = { file: "/app/src/layout.server.tsx", code: "1" };
  expect(warnings.add(first, ["a", "a"])).toEqual(["a"]);
  expect(warnings.add(first, ["a"])).toEqual([]);
  expect(warnings.add(first, ["a", "b"])).toEqual(["b"]);
  expect(warnings.add({ ...first, file: "/app/src/app.ts" }, ["a"])).toEqual(["a"]);
  expect(warnings.add({ ...first, code: "2" }, ["a"])).toEqual(["a"]);
  expect(warnings.add(first, ["a"])).toEqual(["a"]);
});

it("a warning that several modules have is shown once, and again after an edit of the module that it names", () => {
  const warnings = new ShownWarnings();
  const layout = { file: "/app/src/layout.tsx", code: "a" };
  const pages = { file: "/app/src/pages.tsx", code: "b" };
  const text = "The layout at src/layout.tsx:2 has no parameter.";
  expect(warnings.add(pages, [text])).toEqual([text]);
  expect(warnings.add(layout, [text])).toEqual([]);
  expect(warnings.add({ ...pages, file: "/app/src/other.tsx" }, [text])).toEqual([]);
  expect(warnings.add({ ...layout, code: "fixed" }, [])).toEqual([]);
  expect(warnings.add(layout, [text])).toEqual([text]);
  expect(warnings.add(pages, [text])).toEqual([]);
});
