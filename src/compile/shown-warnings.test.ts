import { expect, it } from "vitest";
import { ShownWarnings } from "./shown-warnings.ts";

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
