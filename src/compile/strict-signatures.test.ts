import { describe, expect, test } from "vitest";
import { inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import type { ObjectFields, Signature, TypeShape } from "../protocol/index.ts";
import { strictSignatures, strictSignaturesWithin } from "./server-code.ts";
import { MAX_TYPE_NODES } from "./types/index.ts";

const IMPORT = 'import { server, type int, type float } from "tsweb";\n';

/** Returns a short notation of a shape: `int | "all" | null`, `[string]`, `{ a: int, b?: *Date* }`. Asterisks enclose unchecked types. */
function format(shape: TypeShape): string {
  if (shape.any !== undefined) return `*${shape.any}*`;
  const { kinds = [], literals = [], nullable, list, object, ref } = shape;
  const lists = list && ("of" in list ? `[${format(list.of)}]` : formatTuple(list));
  const objects =
    object &&
    ("cases" in object ? `${object.by}: ${object.cases.map(formatFields).join(" or ")}` : formatFields(object));
  const forms = [
    ...kinds,
    ...literals.map((literal) => JSON.stringify(literal)),
    ...[lists ?? [], objects ?? []].flat(),
    ...(ref === undefined ? [] : [`#${ref}`]),
    ...(nullable ? ["null"] : []),
  ];
  return forms.join(" | ") || "nothing";
}

function formatTuple({ items, rest }: { items: readonly TypeShape[]; rest?: TypeShape }): string {
  const parts = items.map((item) => `${format(item)}${item.optional ? "?" : ""}`);
  return `(${[...parts, ...(rest ? [`...${format(rest)}`] : [])].join(", ")})`;
}

function formatFields({ fields: members, rest }: ObjectFields): string {
  const parts = members.map(([name, shape]) => `${name}${shape.optional ? "?" : ""}: ${format(shape)}`);
  return `{ ${[...parts, ...(rest ? [`...: ${format(rest)}`] : [])].join(", ")} }`;
}

function strictSignatureOf(code: string): Signature {
  const [signature] = strictSignaturesWithin(readTestModule("src/a.server.ts", IMPORT + code)).functions;
  if (!signature) throw new Error("The code of the test has no server function.");
  return signature;
}

/** Returns the shape of the first parameter, or `coerced to <type>` or `unchecked` when it has none. */
function shapeOf(parameter: string, declarations = ""): string {
  const { params, shapes = [] } = strictSignatureOf(`${declarations}\nexport const f = server((${parameter}) => 1);`);
  const shape = params[0]?.shape;
  if (!shape) return params[0]?.type === "any" ? "unchecked" : `coerced to ${params[0]?.type}`;
  return [
    `${format(shape)}${shape.optional ? "?" : ""}`,
    ...shapes.map((recursiveShape, i) => `#${i} = ${format(recursiveShape)}`),
  ].join("; ");
}

/** Adds a title to a row of a table: the parameter, the expected result and the declarations that it refers to. */
function withTitle([parameter, expected, declarations = ""]: readonly [string, string, string?]) {
  const title = `\`${parameter}\` is ${expected}${declarations && ` with \`${declarations}\``}`;
  return [title, parameter, expected, declarations] as const;
}

describe("the shape of a parameter", () => {
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: the source text of a template type
  const table: [parameter: string, expected: string, declarations?: string][] = [
    // a coercion, and no shape
    ["a: int", "coerced to int"],
    ["a: int | null", "coerced to int"],
    ["a?: float", "coerced to float"],
    ['a: int | "all"', "coerced to int"],
    ["a = 3", "coerced to float"],
    ["a: boolean", "coerced to boolean"],
    ["a: true | false", "coerced to boolean"],
    ["a: Age", "coerced to int", "type Age = int;"],
    // unchecked
    ["a", "unchecked"],
    ["a: unknown", "unchecked"],
    ["a: any", "unchecked"],
    ["a: object", "unchecked"],
    ["a: {}", "unchecked"],
    ["a: Date", "unchecked"],
    ["a: bigint", "unchecked"],
    ["a: string | Date", "unchecked"],
    ["a: Map<string, int>", "unchecked"],
    ["a: (n: int) => void", "unchecked"],
    ["a: `x${string}`", "unchecked"],
    ["a: Color", "unchecked", 'enum Color { Red = "red" }'],
    ["a: User", "unchecked", "class User { age: int = 1 }"],
    ["a: User", "unchecked", "interface User {}"],
    ["a: User", "unchecked", "interface User { a: int }\nclass User {}"],
    ["a: Imported", "unchecked", 'import type { Imported } from "./types.ts";'],
    ["a: keyof typeof X", "unchecked", "const X = {};"],
    ["a: { [K in 'a']: string }", "unchecked"],
    ["a = []", "unchecked"],
    ["a: typeof NAME", "unchecked", "const NAME: string = load();"],
    ["a: (typeof IDS)[number]", "unchecked", "const IDS = [1, 2] as number[];"],
    ['a: (typeof SIZES)["length"]', "unchecked", 'const SIZES = ["s", "m"] as const;'],
    [
      "a: { b: typeof IDS; c: typeof SELF }",
      "{ b: *typeof IDS*, c: *typeof SELF* }",
      "const IDS: int[] = []; const SELF: A = 1; type A = A | null;",
    ],
    ["a: { (): void }", "unchecked"],
    ["a: { [Symbol.iterator]: string }", "unchecked"],
    ["a: { __proto__: string }", "unchecked"],
    ["a: { [key: number]: string }", "unchecked"],
    // strings
    ["a: string", "string"],
    ["a: String", "string"],
    ["a?: string", "string"],
    ["a: string | null | undefined", "string | null?"],
    ["a = 'x'", "string"],
    ["a = `x${1}`", "string"],
    ["a: string & { readonly brand: 'Id' }", "string"],
    ["a: string & {}", "string"],
    ["a: string | int", "string | int"],
    ["a: boolean | int | null", "boolean | int | null"],
    ["a: int | string | number", "string | float"],
    // literals
    ['a: "s" | "m"', '"s" | "m"'],
    ['a: "s" | string', "string"],
    ["a: `s`", '"s"'],
    ["a: 1 | 2", "1 | 2"],
    ["a: -1 | 0.5 | null", "-1 | 0.5 | null"],
    ["a: true", "true"],
    ['a: "s" | true', '"s" | true'],
    ["a: (typeof SIZES)[number]", '"s" | "m"', 'const SIZES = ["s", "m"] as const;'],
    ['a: Exclude<Size, "s">', '"m" | "l"', 'type Size = "s" | "m" | "l";'],
    ['a: ("s" | "m") & string', '"s" | "m"'],
    ['a: { b: "s" & 1 }', '{ b: *"s" & 1* }'],
    // lists
    ["a: string[]", "[string]"],
    ["a: readonly int[]", "[int]"],
    ["a: Array<int | null>", "[int | null]"],
    ["a: ReadonlyArray<Date>", "[*Date*]"],
    ["a: int[][]", "[[int]]"],
    ["a: int | int[]", "int | [int]"],
    ["a: int[] | string[]", "unchecked"],
    ["a: [int, string]", "(int, string)"],
    ["a: [x: int, y?: string]", "(int, string?)"],
    ["a: [int, string?]", "(int, string?)"],
    ["a: readonly [int, ...string[]]", "(int, ...string)"],
    ["a: [...string[], int]", "unchecked"],
    ["a: [int, ...[string]]", "unchecked"],
    ["a: List[number]", "coerced to int", "type List = int[];"],
    // objects
    ["a: { b: string; c?: int }", "{ b: string, c?: int }"],
    ["a: { b: string | undefined }", "{ b?: string }"],
    ["a: { b: { c: boolean[] } | null }", "{ b: { c: [boolean] } | null }"],
    ["a: { b: Date; c }", "{ b: *Date*, c: ** }"],
    ["a: { b: int; c(): void; d: () => void }", "{ b: int, c?: *c(): void;*, d?: *d: () => void* }"],
    ["a: { [key: string]: int }", "{ ...: int }"],
    ["a: { b: string; [key: string]: string }", "{ b: string, ...: string }"],
    ["a: Record<string, int[]>", "{ ...: [int] }"],
    ['a: Record<"x" | "y", int>', "{ x: int, y: int }"],
    ["a: Record<number, int>", "unchecked"],
    ["a: User", "{ name: string, age: int }", "interface User { name: string }\ninterface User { age: int }"],
    [
      "a: User",
      "{ id: int, name: string }",
      "interface Base { id: int }\ninterface User extends Base { name: string }",
    ],
    ["a: User", '{ id: "x" }', 'interface Base { id: string }\ninterface User extends Base { id: "x" }'],
    ["a: User", "unchecked", 'import type { Base } from "./b.ts";\ninterface User extends Base { name: string }'],
    ["a: A & B", "{ a: int, b: int }", "type A = { a: int }; type B = { b: int };"],
    ["a: A & B", "unchecked", "type A = { a: int }; type B = { a: string };"],
    ["a: A & B", "unchecked", 'type A = { a: int }; import type { B } from "./b.ts";'],
    ["a: Page<string>", "{ items: [string] }", "interface Page<T> { items: T[] }"],
    ["a: Page", "{ items: [int] }", "interface Page<T = int> { items: T[] }"],
    ["a: List<List<int>>", "[[int]]", "type List<T> = T[];"],
    ["a: Partial<U>", "{ a?: int }", "interface U { a: int }"],
    ["a: Required<U>", "{ a: int }", "interface U { a?: int }"],
    ['a: Pick<U, "a">', "{ a: int }", "interface U { a: int; b: int }"],
    ['a: Omit<U, "a">', "{ b: int }", "interface U { a: int; b: int }"],
    ["a: Omit<U, string>", "unchecked", "interface U { a: int; b: int }"],
    ['a: U["b"]', "[int]", "interface U { b: int[] }"],
    // unions of objects
    [
      'a: { kind: "a"; n: int } | { kind: "b" | "c"; s: string }',
      'kind: { kind: "a", n: int } or { kind: "b" | "c", s: string }',
    ],
    ["a: { n: int } | { s: string }", "unchecked"],
    ['a: { kind: "a" } | { kind: "a"; s: string }', "unchecked"],
    ['a: { kind: "a" } | { kind?: "b" }', "unchecked"],
    // recursive types
    ["a: Tree", "{ v: int, kids: [#0] }; #0 = { v: int, kids: [#0] }", "interface Tree { v: int; kids: Tree[] }"],
    ["a: Json", "string | [#0] | null; #0 = string | [#0] | null", "type Json = string | null | Json[];"],
    ["a: T<int>", "{ v: int, n: #0 | null }; #0 = { v: int, n: #0 | null }", "type T<X> = { v: X; n: T<X> | null };"],
    ["a: N", "{ kids: [string | #0] }; #0 = { kids: [string | #0] }", "interface N { kids: (N | string)[] }"],
    ["a: N", "{ kids: [*N | int[]*] }; #0 = { kids: [*N | int[]*] }", "interface N { kids: (N | int[])[] }"],
    ["a: T<int>", "{ v: int, n: *T<X[]>* }", "type T<X> = { v: X; n: T<X[]> };"],
    ["a: { b: A }", "{ b: *A | null* }", "type A = A | null;"],
  ];
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above
  test.each(table.map(withTitle))("of %s", (_title, parameter, expected, declarations) => {
    expect(shapeOf(parameter, declarations)).toBe(expected);
  });

  test("does not contain the names of types that are not recursive", () => {
    const { params } = strictSignatureOf("interface User { n: int }\nexport const f = server((a: User) => 1);");
    expect(params[0]?.shape).toEqual({ object: { fields: [["n", { kinds: ["int"] }]] } });
  });

  test("is read for each key of a destructured object", () => {
    const code = "({ id, tags, size = 's', n = 1 }: Input) => 1";
    const { params } = strictSignatureOf(
      `interface Input { tags: string[]; id: int; size?: "s" | "m"; n?: int }\nexport const f = server(${code});`,
    );
    expect(params.map(({ name, shape }) => [name, shape && format(shape)])).toEqual([
      ["id", undefined],
      ["tags", "[string]"],
      ["size", '"s" | "m"'],
      ["n", undefined],
    ]);
    const untyped = strictSignatureOf("export const f = server(({ a = 'x', b = 1, c }) => 1);").params;
    expect(untyped.map(({ shape }) => shape && format(shape))).toEqual(["string", undefined, undefined]);
  });

  test("is read up to the maximum number of type nodes, and unchecked beyond", () => {
    const members = (count: number) => Array.from({ length: count }, (_, i) => `a${i}: string`).join("; ");
    const checkedFields = (count: number) => {
      const object = strictSignatureOf(`export const f = server((a: { ${members(count)} }) => 1);`).params[0]?.shape
        ?.object;
      return object && "fields" in object ? object.fields.filter(([, shape]) => shape.any === undefined).length : 0;
    };
    // The object itself is one node.
    expect(checkedFields(MAX_TYPE_NODES - 2)).toBe(MAX_TYPE_NODES - 2);
    expect(checkedFields(MAX_TYPE_NODES - 1)).toBe(MAX_TYPE_NODES - 1);
    expect(checkedFields(MAX_TYPE_NODES)).toBe(MAX_TYPE_NODES - 1);
  });
});

describe("a type of another module", () => {
  const AGES = {
    "src/t.ts": `import type { float, int } from "tsweb";
      export type Age = int; export type Price = float | null; export type Flag = boolean; export type Amount = int | "all";`,
  };

  test.each([
    ["Age", { type: "int" }],
    ["Age | null", { type: "int", nullable: true }],
    ["Age | undefined", { type: "int", optional: true }],
    ["Price", { type: "float", nullable: true }],
    ["Flag", { type: "boolean" }],
    ["Amount", { type: "int", literals: ["all"] }],
  ])("becomes the coercion of the parameter: %s", async (type, expected) => {
    const imports = 'import type { Age, Price, Flag, Amount } from "./t.ts";';
    const { parameter } = await firstShape({ ...AGES, "src/a.server.ts": using(type, imports) });
    expect(parameter).toEqual({ name: "a", annotation: type, ...expected });
  });

  const firstShape = async (files: Record<string, string>) => {
    const resolver = inMemoryResolver(files);
    const facts = await resolver.read("/app/src/a.server.ts");
    if (!facts) throw new Error("The module of the test cannot be read.");
    const { functions, files: others } = await strictSignatures(facts, resolver);
    return { shape: functions[0]?.params[0]?.shape, parameter: functions[0]?.params[0], others };
  };
  const using = (type: string, imports: string) => `${IMPORT}${imports}\nexport const f = server((a: ${type}) => 1);`;

  test.each<[type: string, imports: string, files: Record<string, string>, expected: string]>([
    ["Size", 'import type { Size } from "./t.ts";', { "src/t.ts": 'export type Size = "s" | "m";' }, '"s" | "m"'],
    [
      "User",
      'import { type User } from "./t";',
      {
        "src/t.ts":
          'import type { int as whole } from "tsweb";\nexport interface User { age: whole; in: Town }\ninterface Town { name: string }',
      },
      "{ age: int, in: { name: string } }",
    ],
    [
      "User",
      'import type { User } from "./barrel.ts";',
      {
        "src/barrel.ts": 'export type { Person as User } from "./t.ts";',
        "src/t.ts": "export type Person = { n: string };",
      },
      "{ n: string }",
    ],
    [
      "User",
      'import type { User } from "./barrel.ts";',
      {
        "src/barrel.ts": 'export * from "./t.ts";',
        "src/t.ts": "interface Person { n: string }\nexport type { Person as User };",
      },
      "{ n: string }",
    ],
    [
      "t.User[]",
      'import type * as t from "./t.ts";',
      { "src/t.ts": "export type User = { n: string };" },
      "[{ n: string }]",
    ],
    ['import("./t.ts").User', "", { "src/t.ts": "export type User = { n: string };" }, "{ n: string }"],
    [
      "Page<Own>",
      'import type { Page } from "./t.ts";\ninterface Own { n: int }',
      { "src/t.ts": "export type Page<T> = { items: T[]; next: Page<T> | null };" },
      "{ items: [{ n: int }], next: #0 | null }",
    ],
    [
      "User",
      'import type { User } from "./t.ts";',
      {
        "src/t.ts": 'import type { Base } from "./b.ts";\nexport interface User extends Base { n: string }',
        "src/b.ts": "export interface Base { id: string }",
      },
      "{ id: string, n: string }",
    ],
    [
      "A",
      'import type { A } from "./t.ts";',
      {
        "src/t.ts": 'import type { B } from "./b.ts";\nexport type A = { b: B | null };',
        "src/b.ts": 'import type { A } from "./t.ts";\nexport type B = { a: A | null };',
      },
      "{ b: { a: #0 | null } | null }",
    ],
    ["{ u: User }", 'import type { User } from "./missing.ts";', {}, "{ u: *User* }"],
    ["{ u: User }", 'import type { User } from "./t.ts";', { "src/t.ts": "export const other = 1;" }, "{ u: *User* }"],
    ["{ u: User }", 'import type { User } from "./t.ts";', { "src/t.ts": "export type User = {" }, "{ u: *User* }"],
    ["{ u: User }", 'import { User } from "./t.ts";', { "src/t.ts": "export class User { n = 1 }" }, "{ u: *User* }"],
  ])("is read for %s with %s", async (type, imports, files, expected) => {
    const { shape } = await firstShape({ "src/a.server.ts": using(type, imports), ...files });
    expect(shape && format(shape)).toBe(expected);
  });

  test("is read for the keys of a destructured object", async () => {
    const resolver = inMemoryResolver({
      "src/a.server.ts": `${IMPORT}import type { Input } from "./t.ts";\nexport const f = server(({ n, name, 0: first, missing }: Input) => 1);`,
      "src/t.ts": 'import type { int } from "tsweb";\nexport interface Input { n: int; name?: string; 0: string }',
    });
    const facts = await resolver.read("/app/src/a.server.ts");
    const { functions } = facts ? await strictSignatures(facts, resolver) : { functions: [] };
    expect(functions[0]?.params.map(({ name, type, shape }) => [name, type, shape && format(shape)])).toEqual([
      ["n", "int", undefined],
      ["name", "any", "string"],
      ["0", "any", "string"],
      ["missing", "any", undefined],
    ]);
  });

  test("adds its files to the files to watch", async () => {
    const { others } = await firstShape({
      "src/a.server.ts": using("User", 'import type { User } from "./barrel.ts";'),
      "src/barrel.ts": 'export type { User } from "./t.ts";',
      "src/t.ts": 'import type { Town } from "./town.ts";\nexport type User = { in: Town };',
      "src/town.ts": "export type Town = { n: string };",
    });
    expect([...others].sort()).toEqual(["/app/src/barrel.ts", "/app/src/t.ts", "/app/src/town.ts"]);
  });
});
