import { describe, expect, test } from "vitest";
import { compileErrorOf, parseMarkedCode, readTestModule } from "#test/in-memory-modules";

const IMPORT = 'import { server, type int, type float } from "tsweb";\n';

describe("a parameter list is rejected", () => {
  // `f(…)` stands for `export const f = server(…)`.
  const table: [code: string, message: RegExp][] = [
    ["f((«...all: int[]) => 1);", /"f" takes its arguments by name, so it cannot have a rest parameter/],
    ["f(function («this: Date, a: int) {});", /is not called on an object, so it cannot have a `this` parameter/],
    ["f((a: int, «[b]: int[]) => 1);", /a destructured array has none/],
    ["f((«[a]) => 1);", /a destructured array has none/],
    ["f((a: int, «{ b }: { b: int }) => 1);", /mixes a destructured object with other parameters/],
    ["f((«{ a }: { a: int } = {}, b: int) => 1);", /Use one destructured object, whose keys are the parameters/],
    ["f(({ a, «...rest }: { a: int }) => 1);", /must name every key it takes, so it cannot have a rest element/],
    ["f(({ [«key]: a }) => 1);", /must name every key it takes, so a key cannot be computed\. Write the key out/],
    ["f(({ a }: { a: int } = «{ a: 1 }) => 1);", /Write defaults inside the braces/],
    [
      "f((previous: unknown, «data: FormData) => 1);",
      /^The parameter data of f is `FormData`, .* `f = server\(async \(name: string, age: int\) => …\)`\.$/,
    ],
    ["f(({ «data }: { data?: FormData }) => 1);", /^The parameter data of f is `FormData`/],
    ["f((«__proto__: int) => 1);", /parameter named `__proto__`/],
    ["f(({ «__proto__: a }) => 1);", /parameter named `__proto__`/],
    ["type A = A | null;\nf((a: A) => 1);", /"A" refers to itself/],
    ["type A = B; type B = A;\nf((a: A) => 1);", /refers to itself/],
    ["f((a: «X extends string ? int : float) => 1);", /type is computed/],
    ["type If<T> = «T extends string ? Age : string; type Age = int;\nf((a: If<string>) => 1);", /type is computed/],
    ["type If<T> = «T extends string ? T : string;\nf((a: If<int>) => 1);", /type is computed/],
    ["f((a: «Exclude<int | null, null>) => 1);", /type is computed/],
    ["f(({ a }: «{ [K in 'a']: int }) => 1);", /has parameters whose types cannot be read/],
    [
      "interface B { a: int }\ninterface A extends B {}\ntype C<T> = { [K in keyof T]: T[K] };\nf(({ a }: «C<A>) => 1);",
      /has parameters whose types cannot be read/,
    ],
    ["f(({ a }: «Imported<int> & Date) => 1);", /has parameters whose types cannot be read/],
    ["f(({ a }: «Record<string, int>) => 1);", /has parameters whose types cannot be read/],
    [
      "f(({ a }: «A | B) => 1);\ntype A = { a: int }; type B = { a: float };",
      /has parameters whose types cannot be read/,
    ],
    ["const g: (a: int) => void = («a) => 1;\nf(g);", /gets the type of `a` from an outer type/],
    ["export const f = server<[a: int], void>((«a) => {});", /gets the type of `a` from an outer type/],
    ["export const f: Typed = server((«a) => {});", /gets the type of `a` from an outer type/],
    ["f((«a) => {}) satisfies Typed;", /gets the type of `a` from an outer type/],
    ["f(((«a) => {}) as Typed);", /gets the type of `a` from an outer type/],
    ["export const f: Typed = server((«{ a }) => {});", /gets the type of its parameters from an outer type/],
  ];
  test.each(table)("in `%s`", async (code, message) => {
    const text = IMPORT + code.replace(/^f(?=\()/m, "export const f = server");
    const error = await compileErrorOf(() => readTestModule("src/a.server.ts", text));
    expect(error.message).toMatch(message);
    if (parseMarkedCode(text).location)
      expect(error.loc).toEqual({ file: "/app/src/a.server.ts", ...parseMarkedCode(text).location });
  });
});
