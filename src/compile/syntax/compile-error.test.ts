import { describe, expect, test } from "vitest";
import { CompileError, sourceLocation } from "./compile-error.ts";

const CODE = "one\ntwo\n\tthree four\nfive\nsix\nseven\n";
const SOURCE = { file: "/app/a.ts", code: CODE };

test.each([
  [0, 1, 0],
  [3, 1, 3],
  [4, 2, 0],
  [9, 3, 1],
  [CODE.length, 7, 0],
])("offset %i is line %i, column %i", (offset, line, column) => {
  expect(sourceLocation(SOURCE, offset)).toEqual({ file: "/app/a.ts", line, column });
});

describe("a frame", () => {
  const frame = (code: string, start: number, end: number) =>
    new CompileError("No.", { file: "/app/a.ts", code }, { start, end }).frame;

  test("shows two lines before and after, and underlines the range with tabs kept", () => {
    expect(frame(CODE, 15, 19)).toBe(
      ["1  |  one", "2  |  two", "3  |  \tthree four", "   |  \t      ^^^^", "4  |  five", "5  |  six"].join("\n"),
    );
  });

  test("underlines no further than the end of the line", () => {
    expect(frame("ab", 1, 100)).toBe("1  |  ab\n   |   ^");
  });

  test("contains no carriage returns", () => {
    expect(frame("a\r\nb\r\n", 0, 1)).not.toContain("\r");
  });
});

test("an error has the properties that Vite displays", () => {
  const error = new CompileError("No.", SOURCE, { start: 9, end: 14 });
  expect(error).toMatchObject({
    name: "CompileError",
    message: "No.",
    id: "/app/a.ts",
    loc: { file: "/app/a.ts", line: 3, column: 1 },
  });
  expect(error.frame).toContain("\t^^^^^\n");
});
