import { describe, expect, it } from "vitest";
import type { Parameter, Signature } from "../protocol/index.ts";
import { bindArguments } from "./arguments.ts";
import { compileParameterChecks } from "./strict-checks.ts";

const file = new File(["x"], "x.txt");
const blob = new Blob(["x"]);

function signatureOf(parameter: Partial<Parameter>): Signature {
  const params: Parameter[] = [{ name: "a", type: "any", annotation: "File", shape: { file: "File" }, ...parameter }];
  return { name: "f", file: "src/a.server.ts", line: 1, params };
}

function bind(parameter: Partial<Parameter>, args: Record<string, unknown>, strict = false): unknown {
  const signature = signatureOf(parameter);
  return bindArguments(signature, args, strict ? compileParameterChecks(signature, () => false) : undefined)[0];
}

describe.each([false, true])("a parameter that takes files, in an application with strict: %s", (strict) => {
  it("accepts files and blobs", () => {
    expect(bind({ files: "one" }, { a: file }, strict)).toBe(file);
    expect(bind({ files: "one" }, { a: blob }, strict)).toBe(blob);
    expect(bind({ files: "many" }, { a: [file, blob] }, strict)).toEqual([file, blob]);
    expect(bind({ files: "many" }, { a: [] }, strict)).toEqual([]);
  });

  it("accepts null and nothing only where its type does", () => {
    expect(bind({ files: "one", nullable: true }, { a: null }, strict)).toBeNull();
    expect(bind({ files: "one", optional: true }, {}, strict)).toBeUndefined();
    expect(() => bind({ files: "one" }, { a: null }, strict)).toThrow("a: expected file");
    expect(() => bind({ files: "one" }, {}, strict)).toThrow("a is missing: ");
    expect(() => bind({ files: "many" }, {}, strict)).toThrow("a is missing: ");
  });

  it.each([
    ["one", { name: "x.txt", size: 1, type: "text/plain" }],
    ["one", [file]],
    ["many", file],
    ["many", [file, "text"]],
    ["many", [{}]],
  ] as const)("refuses for %s %j, which a call with JSON can send [REQUEST-40]", (files, value) => {
    expect(() => bind({ files }, { a: value }, strict)).toThrow(/^a: expected (file|array of files)$/);
  });

  it.each([
    ["one", "input.files[0]"],
    ["many", "[...input.files]"],
  ] as const)("refuses a text for %s, and names what to pass: %s", (files, advice) => {
    expect(() => bind({ files }, { a: "C:\\fakepath\\x.txt" }, strict)).toThrow(
      `a: expected ${files === "one" ? "file" : "array of files"}, got a text: pass ${advice} of the file field`,
    );
  });
});
