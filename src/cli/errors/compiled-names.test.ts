import { expect, it } from "vitest";
import { explainError, withoutCompiledNames } from "./explain-error.ts";

it.each([
  ["__vite_ssr_import_0__.request.headers.get is not a function", "request.headers.get is not a function"],
  ["(0 , __vite_ssr_import_12__.sign) is not a function", "sign is not a function"],
  ["(0, __vite_ssr_import_1__.db.find)(...).all is not a function", "db.find(...).all is not a function"],
  ["__vite_ssr_exports__.save is not a function", "save is not a function"],
  ["__vite_ssr_import_meta__.glob is not a function", "import.meta.glob is not a function"],
  ["(0 , sign) and __vite_ssr_import_0__ are what they are", "(0 , sign) and __vite_ssr_import_0__ are what they are"],
])("a message of compiled code has the names of the source: %s", (message, expected) => {
  expect(withoutCompiledNames(message)).toBe(expected);
});

it("an error that is shown, its stack and its cause have the names of the source", () => {
  const cause = new TypeError("(0 , __vite_ssr_import_1__.sign) is not a function");
  const { message, stack } = explainError(new TypeError("__vite_ssr_import_0__.a is not iterable", { cause }), "/app");
  expect(message).toBe("a is not iterable\nCaused by TypeError: sign is not a function");
  expect(stack).not.toContain("__vite_ssr");
});
