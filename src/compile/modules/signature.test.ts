import { describe, expect, test } from "vitest";
import { readTestModule } from "#test/in-memory-modules";
import type { Parameter, Signature } from "../../protocol/index.ts";

const IMPORT = 'import { server, type int, type float } from "tsweb";\n';

function signatureOf(code: string): Signature {
  const [signature] = readTestModule("src/a.server.ts", code).functions;
  if (!signature) throw new Error("The code of the test has no server function.");
  return signature;
}

/** Returns a short notation of a parameter's check: `int?`, `float|null`, `int "all"`. */
function shortNotation(parameter: Parameter | undefined): string {
  if (!parameter) return "nothing";
  const { type, optional, nullable, literals = [] } = parameter;
  return [
    `${type}${nullable ? "|null" : ""}${optional ? "?" : ""}`,
    ...literals.map((literal) => JSON.stringify(literal)),
  ].join(" ");
}

function check(parameter: string, declarations = ""): string {
  return shortNotation(
    signatureOf(`${IMPORT}${declarations}\nexport const f = server((${parameter}) => 1);`).params[0],
  );
}

/** Adds a title to a row of a table: the parameter, the expected result and the declarations that it refers to. */
function withTitle([parameter, expected, declarations = ""]: readonly [string, string, string?]) {
  const title = `\`${parameter}\` is ${expected}${declarations && ` with \`${declarations}\``}`;
  return [title, parameter, expected, declarations] as const;
}

describe("a name that both the module and the function's body declare", () => {
  const typeOf = (fn: string) =>
    shortNotation(signatureOf(`${IMPORT}type T = int;\nconst size = 3;\nexport const f = server(${fn});`).params[0]);

  test.each([
    ["a type", "(a: T) => { type T = string; return a as unknown as T; }", "int"],
    ["an interface", "function (a: T) { interface T { x: string } return a as unknown as T; }", "int"],
    ["a const", "(a = size) => { const size = true; return size; }", "float?"],
    ["a hoisted var", "(a = size) => { if (a) { var size = true; } return size; }", "float?"],
    ["a function", "(a = size) => { function size() {} return size; }", "float?"],
  ])("refers to the module's declaration in the parameters: %s", (_what, fn, expected) => {
    expect(typeOf(fn)).toBe(expected);
  });

  test("refers to a type parameter of the function in the parameters", () => {
    expect(typeOf("<T extends boolean>(a: T) => { type T = string; return a as unknown as T; }")).toBe("boolean");
  });

  test("refers to no type if type parameters of the function extend each other, which TypeScript reports", () => {
    expect(typeOf("<T extends U, U extends T>(a: T) => 1")).toBe("any");
  });
});

describe("the type of a parameter", () => {
  const table: [parameter: string, expected: string, declarations?: string][] = [
    ["a", "any"],
    ["a: int", "int"],
    ["a: float", "float"],
    ["a: number", "float"],
    ["a: boolean", "boolean"],
    ["a: Number", "float"],
    ["a: Boolean", "boolean"],
    ["a: string", "any"],
    ["a: unknown", "any"],
    ["a: any", "any"],
    ["a: bigint", "any"],
    ["a: Date", "any"],
    ["a: int[]", "any"],
    ["a: Array<number>", "any"],
    ["a: { n: int }", "any"],
    ["a: (n: int) => void", "any"],
    ["a: keyof typeof ITEMS", "any", "const ITEMS = {};"],
    // optional and null
    ["a?: int", "int?"],
    ["a?: string", "any?"],
    ["a: int | null", "int|null"],
    ["a: int | undefined", "int?"],
    ["a: undefined | int | null", "int|null?"],
    ["a: string | null", "any|null"],
    ["a: (int) | (null)", "int|null"],
    ["a: void | int", "int?"],
    ["a: NonNullable<int | null>", "int"],
    // literals
    // A coerced value might be none of the literals, which only a strict application checks.
    ["a: 1", "any"],
    ["a: -1 | 2", "any"],
    ["a: 1 | 2 | null", "any|null"],
    ["a: 1 | 2.5", "any"],
    ["a: true", "any"],
    ["a: false | null", "any|null"],
    ["a: true | false", "boolean"],
    ['a: "a" | "b"', "any"],
    ['a: int | "all"', 'int "all"'],
    ['a: "all" | int | null', 'int|null "all"'],
    ["a: int | 0.5", "int 0.5"],
    ["a: int | 7", "int"],
    ["a: int | false", "int false"],
    ['a: boolean | "auto"', 'boolean "auto"'],
    ["a: boolean | 2", "boolean 2"],
    ['a: 1 | "one"', "any"],
    ['a: true | false | "auto"', 'boolean "auto"'],
    ["a: `x` | int", "any"],
    ["a: 1n", "any"],
    ["a: never", "any"],
    // unions of several
    ["a: int | number", "float"],
    ["a: int | float", "float"],
    ["a: int | string", "any"],
    ["a: int | boolean", "any"],
    ["a: int | Date | null", "any|null"],
    ["a: true | 1", "any"],
    ["a: int | int[]", "any"],
    ["a: int | Array<string>", "any"],
    // brands
    ["a: int & { readonly brand: 'Age' }", "int"],
    ["a: number & int", "int"],
    ["a: int & (1 | 2)", "int"],
    ["a: int & (int | Date)", "any"],
    ["a: (int | null) & Imported", "int", 'import type { Imported } from "./types.ts";'],
    ["a: Base & Extra", "any", "interface Base {}"],
    // aliases of int and float
    ["a: t.int", "int", 'import type * as t from "tsweb";'],
    ["a: t.float", "float", 'import * as t from "tsweb";'],
    ["a: t.Serialized", "any", 'import * as t from "tsweb";'],
    ["a: other.int", "any", 'import * as other from "./other.ts";'],
    ["a: Whole", "int", 'import { int as Whole } from "tsweb";'],
    ['a: import("tsweb").int', "int"],
    ['a: import("./x.ts").int', "any"],
    // aliases
    ["a: Age", "int", "type Age = int;"],
    ["a: Age", "int", "export type Age = Years; type Years = int;"],
    ["a: Age", "int|null?", "type Age = int | Missing; type Missing = null | undefined;"],
    ["a: Age | 'old'", 'int "old"', "type Age = int;"],
    ["a: Imported", "any", 'import type { Imported } from "./types.ts";'],
    ["a: Maybe<int>", "int|null", "type Maybe<T> = T | null;"],
    ["a: Maybe<string>", "any|null", "type Maybe<T> = T | null;"],
    ["a: Maybe<Maybe<int>>", "int|null", "type Maybe<T> = T | null;"],
    ["a: Outer<int>", "int|null", "type Maybe<T> = T | null; type Outer<T> = Maybe<T>;"],
    ["a: Id", "int", "type Id<T = int> = T;"],
    ["a: Id<Other>", "float", "type Id<T> = T; type Other = number;"],
    ["a: Either<string>", "any", "type Either<A, B = A> = A | B;"],
    ["a: Either<int>", "int", "type Either<A, B = A> = A | B;"],
    ["a: Json", "any", "type Json = string | Json[];"],
    ["a: User", "any", "interface User { age: int }"],
    ["a: User", "any", "interface User extends Extract<A, { age: int }> {}\ntype A = { age: int } | { name: string };"],
    ["a: Color", "any", "enum Color { Red }"],
    ["a: User", "any", "class User { age: int = 1 }"],
    ["a: Readonly<int>", "int"],
    // indexed access and typeof
    ['a: User["age"]', "int", "interface User { age: int }"],
    ['a: User["age"]', "int?", "type User = { age?: int };"],
    ['a: User["age"]', "int", "interface User { age: int; [Symbol.iterator]: Date; [key: string]: unknown }"],
    ['a: Omit<User, keyof Other>["age"]', "int", "interface User { age: int }\nclass Other {}"],
    ['a: User["name"]', "any", "type User = { name: string };"],
    ['a: User["age"]', "any", 'import type { User } from "./user.ts";'],
    // TypeScript reports these, which have no type
    ['a: User["age"]', "any", 'type User = { age: User["age"] };'],
    ['a: User["age"]', "any", 'interface User { age: Pet["age"] }\ninterface Pet { age: User["age"] }'],
    ["a: typeof LIMIT", "any", "const LIMIT: typeof LIMIT = 10;"],
    ["a: typeof LIMIT", "float", "const LIMIT = 10;"],
    ["a: typeof LIMIT", "int", "const LIMIT: int = 10;"],
    ["a: typeof all", "any", "const all = load();"],
    ["a: (typeof SIZES)[number]", "any", "const SIZES = [1, 2] as const;"],
    ["a: (typeof SIZES)[number]", "any", 'const SIZES = ["s", "m"] as const;'],
  ];
  test.each(table.map(withTitle))("of %s", (_title, parameter, expected, declarations) => {
    expect(check(parameter, declarations)).toBe(expected);
  });

  test("of a union with more than 500 members is checked", () => {
    const members = Array.from({ length: 600 }, (_, i) => `"size ${i}"`).join(" | ");
    expect(signatureOf(`${IMPORT}export const f = server((a: int | ${members}) => 1);`).params[0]?.type).toBe("int");
  });

  test("a type named int that this module declares is not tsweb's int", () => {
    const code =
      'import { server } from "tsweb";\ntype int = string;\nexport const f = server((a: int, b: float) => 1);\ninterface float {}';
    expect(signatureOf(code).params.map(shortNotation)).toEqual(["any", "any"]);
  });

  test("a type parameter named int is not tsweb's int, and a type parameter is checked as its constraint", () => {
    const code = `${IMPORT}export const f = server(<int, N extends number>(a: int, b: N, c: N | null) => 1);`;
    expect(signatureOf(code).params.map(shortNotation)).toEqual(["any", "float", "float|null"]);
  });

  test("a type named int from another module is unchecked", () => {
    const code =
      'import { server } from "tsweb";\nimport type { int } from "./numbers.ts";\nexport const f = server((a: int) => 1);';
    expect(signatureOf(code).params.map(shortNotation)).toEqual(["any"]);
  });
});

describe("a default value", () => {
  const table: [parameter: string, expected: string, declarations?: string][] = [
    ["a = 3", "float?"],
    ["a = -3", "float?"],
    ["a = 2.5", "float?"],
    ["a = 60 * 60", "float?"],
    ["a = 1 + LIMIT", "float?", "const LIMIT = 3;"],
    ["a = 'a' + 1", "any?"],
    ["a = 1 + (x ? 1 : 'a')", "any?"],
    ["a = true", "boolean?"],
    ["a = !x", "boolean?"],
    ["a = 1 > 2", "boolean?"],
    ["a = 'x'", "any?"],
    ["a = `x`", "any?"],
    ["a = null", "any|null?"],
    ["a = []", "any?"],
    ["a = 3n", "any?"],
    ["a = 3 as int", "int?"],
    ["a = 3 as const", "float?"],
    ["a = (3)", "float?"],
    ["a = 3 satisfies int", "float?"],
    ["a = x ? 1 : 2", "float?"],
    ["a = x ? 1 : null", "float|null?"],
    ["a = LIMIT", "float?", "const LIMIT = 20;"],
    ["a = LIMIT", "int?", "const LIMIT: int = 20;"],
    ["a = LIMIT", "any?", "const LIMIT = load();"],
    ["a = LIMIT", "any?", 'import { LIMIT } from "./limits.ts";'],
    ["a = LIMIT", "any?", "const LIMIT = OTHER; const OTHER = LIMIT;"],
    ["a = Infinity", "float?"],
    ["a: int = 3", "int?"],
    ["a: int | null = null", "int|null?"],
    ["a: string = 'x'", "any?"],
    ["a: Age = 3", "int?", "type Age = int;"],
  ];
  test.each(table.map(withTitle))("of %s", (_title, parameter, expected, declarations) => {
    expect(check(parameter, declarations)).toBe(expected);
  });
});

describe("a signature", () => {
  test("contains the name, file, line and parameters in order", () => {
    const code = `${IMPORT}\nexport const login = server(\n  async (email: string, age: int | null, size: "s" | "m" = "s") => email,\n);`;
    expect(signatureOf(code)).toEqual({
      name: "login",
      file: "src/a.server.ts",
      line: 3,
      params: [
        { name: "email", type: "any", annotation: "string" },
        { name: "age", type: "int", nullable: true, annotation: "int | null" },
        { name: "size", type: "any", optional: true, annotation: '"s" | "m"' },
      ],
    });
  });

  test("is read from a function that is declared after server()", () => {
    const code = `${IMPORT}export const f = server({ auth_required: true }, g);\nasync function g(a: int) {}`;
    expect(signatureOf(code).params).toEqual([{ name: "a", type: "int", annotation: "int" }]);
  });

  test("is read from a const that is a function", () => {
    expect(
      signatureOf(`${IMPORT}const g = function (a: int) {};\nexport const f = server(g);`).params.map(shortNotation),
    ).toEqual(["int"]);
  });

  test("of an overloaded function is that of its implementation", () => {
    const code = `${IMPORT}function g(a: string): void;\nfunction g(a: string, b: int): void;\nfunction g(a: string, b?: int) {}\nexport const f = server(g);`;
    expect(signatureOf(code).params.map(shortNotation)).toEqual(["any", "int?"]);
  });

  test.each([
    ["function* () {}", true],
    ["async function* () {}", true],
    ["async () => 1", undefined],
    ["function () {}", undefined],
  ])("of %s has the stream flag %s", (fn, stream) => {
    expect(signatureOf(`${IMPORT}export const f = server(${fn});`).stream).toBe(stream);
  });

  test("in JavaScript contains names, and types of default values", () => {
    const code = 'import { server } from "tsweb";\nexport const f = server((a, b = 3) => 1);';
    const [signature] = readTestModule("src/a.server.js", code).functions;
    expect(signature?.params.map(shortNotation)).toEqual(["any", "float?"]);
  });

  test("has annotations without line breaks", () => {
    expect(signatureOf(`${IMPORT}export const f = server((a: {\n  b: string;\n}) => 1);`).params[0]?.annotation).toBe(
      "{ b: string; }",
    );
  });
});

describe("a destructured object as the only parameter", () => {
  const keyed = (pattern: string, declarations = "") =>
    signatureOf(`${IMPORT}${declarations}\nexport const f = server((${pattern}) => 1);`);

  const table: [pattern: string, expected: Record<string, string>, declarations?: string][] = [
    ["{ a, b }: { a: string; b?: int }", { a: "any", b: "int?" }],
    ["{ a, b = 1 }: { a: string; b?: int }", { a: "any", b: "int?" }],
    ["{ a: x }: { a: int }", { a: "int" }],
    ['{ "a-b": x }: { "a-b": int }', { "a-b": "int" }],
    ["{ 0: x }: { 0: int }", { "0": "int" }],
    ["{ a: { b }, c: [d] }: { a: { b: int }; c: int[] }", { a: "any", c: "any" }],
    ["{ a: { b } = {} }: { a?: { b: int } }", { a: "any?" }],
    ["{ a = 3 }", { a: "float?" }],
    ["{ a }", { a: "any" }],
    ["{ a }: Input", { a: "int" }, "type Input = { a: int };"],
    ["{ a }: Input", { a: "int" }, "interface Input { a: int }"],
    ["{ a, b }: Input", { a: "int", b: "boolean" }, "interface Input { a: int }\ninterface Input { b: boolean }"],
    [
      "{ a, b }: Input",
      { a: "int", b: "any" },
      "interface Base { a: int }\ninterface Input extends Base { b: string }",
    ],
    ["{ a }: Input<int>", { a: "int" }, "interface Input<T> { a: T }"],
    ["{ a }: Input<int>", { a: "int|null" }, "type Input<T> = { a: T | null };"],
    ["{ a }: Input", { a: "int" }, 'import type { Base } from "./b.ts";\ninterface Input extends Base { a: int }'],
    ["{ a }: Input", { a: "int" }, "interface Input extends Input { a: int }"],
    ["{ a }: { a: () => int }", { a: "any" }],
    ["{ a }: A & { a: boolean }", { a: "boolean" }, "type A = { a: int };"],
    ["{ a, b }: A & { b: int }", { a: "int", b: "int" }, "type A = { a: int };"],
    ["{ a }: Readonly<{ a: int }>", { a: "int" }],
    ["{ a }: Partial<{ a: int }>", { a: "int?" }],
    ["{ a }: Required<{ a?: int }>", { a: "int" }],
    ["{ a }: NonNullable<{ a: int }>", { a: "int" }],
    ["{ a }: Pretty<int> & {}", { a: "any" }, "type Pretty<T> = { [K in 'a']: T };"],
    ["{ a, b }: Imported & { a: int; [Symbol.iterator]: Date; b(): int }", { a: "int", b: "any" }],
    ["{ a }: Input", { a: "int" }, "interface Input { a: int }\nclass Input {}"],
    ['{ a }: Pick<Input, "a">', { a: "int" }, "interface Input { a: int; b: int }"],
    ["{ a }: Imported", { a: "any" }, 'import type { Imported } from "./types.ts";'],
    ["{ a }: Record<string, string>", { a: "any" }],
    ["{ a }: { b: int }", { a: "any" }],
    ["{ a }: { a(): int }", { a: "any" }],
    ["{ a }: { a: int } = {}", { a: "int" }],
    ["{}: {}", {}],
  ];
  test.each(table)("has a parameter for each key: %s", (pattern, expected, declarations) => {
    const { params, keyed: isKeyed } = keyed(pattern, declarations);
    expect(isKeyed).toBe(true);
    expect(Object.fromEntries(params.map((param) => [param.name, shortNotation(param)]))).toEqual(expected);
  });

  test("a single named object is not keyed", () => {
    expect(keyed("input: { a: int }")).toMatchObject({ params: [{ name: "input", type: "any" }] });
    expect(keyed("input: { a: int }").keyed).toBeUndefined();
  });
});

describe("a parameter list is accepted", () => {
  test("with a type of the module that is named FormData", () => {
    const text = `${IMPORT}interface FormData { name: string }\nexport const f = server((data: FormData) => 1);`;
    expect(signatureOf(text).params).toMatchObject([{ name: "data", annotation: "FormData" }]);
  });

  test("with an outer type, if every parameter has its own type", () => {
    expect(
      signatureOf(`${IMPORT}export const f: Typed = server((a: int, b = 3) => 1);`).params.map(shortNotation),
    ).toEqual(["int", "float?"]);
  });
});
