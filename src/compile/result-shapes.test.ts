import { describe, expect, test } from "vitest";
import { documentedSignatures } from "#test/documented-server";
import type { FunctionDocumentation } from "../protocol/index.ts";

async function documentationOf(fn: string, declarations = ""): Promise<FunctionDocumentation | undefined> {
  const [signature] = await documentedSignatures(`${declarations}\nexport const f = server(${fn});`);
  return signature?.documentation;
}

describe("the type of a result", () => {
  const string = { kinds: ["string"] };
  test.each<[title: string, fn: string, expected: unknown, declarations?: string]>([
    ["is that of its annotation", "(): string => ''", string],
    ["is that in a promise", "async (): Promise<string> => ''", string],
    ["is that in a promise behind an alias", "async (): Later<string> => ''", string, "type Later<T> = Promise<T>;"],
    ["is that of the values of a generator", "function* (): Generator<string, int> { return 1; }", string],
    ["is that of the values of an async generator", "async function* (): AsyncGenerator<string> {}", string],
    ["is that of the values of an iterator", "async function* (): AsyncIterableIterator<string> {}", string],
    ["is not known for the unknown result of a generator", "function* (): unknown { yield 1; }", undefined],
    ["is not known without an annotation", "() => 1", undefined],
    [
      "is nothing without an annotation and a return of a value",
      "() => { [1].map(() => { return 1; }); }",
      { optional: true },
    ],
    ["is not nothing for a generator without annotation", "function* () { yield 1; }", undefined],
    ["is that of a declared function", "load", string, "function load(): string { return ''; }"],
    ["is boolean for a type guard", "(a: unknown): a is string => true", { kinds: ["boolean"] }],
    [
      "is not known for a promise in an object",
      "(): { a: Promise<string> } => x",
      { object: { fields: [["a", { any: "Promise<string>", optional: true }]] } },
    ],
    // a value of an unknown type may be undefined or a function, and the field is not sent then
    [
      "may lack a field of an unknown type",
      "(): Required<{ a: unknown }> => x",
      { object: { fields: [["a", { any: "unknown", optional: true }]] } },
    ],
    ["has no methods", "(): { a: string; f(): void } => x", { object: { fields: [["a", string]] } }],
    [
      "is not known if a method changes how it is sent",
      "(): { toJSON(): string } => x",
      { any: "{ toJSON(): string }" },
    ],
  ])("%s: `%s`", async (_, fn, expected, declarations) => {
    expect((await documentationOf(fn, declarations))?.result).toEqual(expected);
  });

  test("has the names of interfaces and aliases of objects, but not of generic types", async () => {
    const declarations = "interface Item { id: int }\ntype Items = { all: Item[] };\ntype Page<T> = { items: T[] };";
    const { result } = (await documentationOf("(): { a: Items; b: Page<Item> } => x", declarations)) ?? {};
    const Item = { object: { name: "Item", fields: [["id", { kinds: ["int"] }]] } };
    expect(result).toEqual({
      object: {
        fields: [
          ["a", { object: { name: "Items", fields: [["all", { list: { of: Item } }]] } }],
          ["b", { object: { fields: [["items", { list: { of: Item } }]] } }],
        ],
      },
    });
  });

  test("has alternatives for a union that no field discriminates", async () => {
    const { result } = (await documentationOf("(): { a: int } | { b: int } | null => x")) ?? {};
    const alternatives = ["a", "b"].map((name) => ({ object: { fields: [[name, { kinds: ["int"] }]] } }));
    expect(result).toEqual({ nullable: true, alternatives });
  });

  test("and the doc comment are read only where the OpenAPI document is used", async () => {
    const code = "/** Adds. */\nexport const f = server((): int => 1);";
    expect((await documentedSignatures(code))[0]?.documentation).toEqual({
      summary: "Adds",
      description: "Adds.",
      result: { kinds: ["int"] },
    });
  });
});

describe("the default of a parameter", () => {
  test.each<[title: string, fn: string, expected: FunctionDocumentation["defaults"]]>([
    ["is its source text", "(a: int = 1, b = { c: [1] }, d: string) => 0", { a: "1", b: "{ c: [1] }" }],
    ["is that of a key", "({ a = 1, b: renamed = 'x', c }: { a: int }) => 0", { a: "1", b: "'x'" }],
    ["is that of a key of an object with a default", "({ a = 1 }: { a?: int } = {}) => 0", { a: "1" }],
    ["may be missing", "(a: int, b?: string) => 0", undefined],
  ])("%s", async (_, fn, expected) => {
    expect((await documentationOf(fn))?.defaults).toEqual(expected);
  });
});
