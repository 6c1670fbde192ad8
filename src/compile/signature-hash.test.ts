import { describe, expect, test } from "vitest";
import { inMemoryResolver } from "#test/in-memory-modules";
import { strictSignatures } from "./server-code.ts";

const IMPORT = 'import { server, type int, type float } from "tsweb";\n';

/** Returns the hash of the first function of a module. */
async function hashOf(code: string, types = ""): Promise<string | undefined> {
  const resolver = inMemoryResolver({ "src/a.server.ts": IMPORT + code, "src/types.ts": types });
  const facts = await resolver.read("/app/src/a.server.ts");
  if (!facts) throw new Error("The code of the test does not compile.");
  const { functions } = await strictSignatures(facts, resolver, { hashed: true });
  return functions[0]?.hash;
}

const BASE = "export const f = server((a: string, b: int = 1): Promise<string> => Promise.resolve(a + b));";

describe("the hash of a signature", () => {
  test("has six characters, and is absent unless it is requested", async () => {
    expect(await hashOf(BASE)).toMatch(/^[\w-]{6}$/);
    const resolver = inMemoryResolver({ "src/a.server.ts": IMPORT + BASE });
    const facts = await resolver.read("/app/src/a.server.ts");
    expect(facts && (await strictSignatures(facts, resolver)).functions[0]).not.toHaveProperty("hash");
  });

  test.each([
    ["another body", "export const f = server((a: string, b: int = 1): Promise<string> => Promise.resolve(b + a));"],
    ["async", "export const f = server(async (a: string, b: int = 1): Promise<string> => a + b);"],
    ["another default", "export const f = server((a: string, b: int = 2): Promise<string> => Promise.resolve(a + b));"],
    [
      "optional in another way",
      "export const f = server((a: string, b?: int): Promise<string> => Promise.resolve(a + b));",
    ],
    ["a comment, and another line", `/** Doc. */\n\n${BASE}`],
    ["a function beside it", `${BASE}\nexport const g = server((c: int) => c);`],
    ["options", BASE.replace("server(", "server({ auth_required: true }, ")],
    ["an alias for a type", `type Text = string;\n${BASE.replace("a: string", "a: Text")}`],
    ["the result without a promise", BASE.replace("Promise<string> => Promise.resolve(a + b)", "string => a + b")],
  ])("is the same with %s", async (_change, code) => {
    expect(await hashOf(code)).toBe(await hashOf(BASE));
  });

  test.each([
    ["another name of a parameter", BASE.replaceAll("a:", "c:")],
    ["another order", "export const f = server((b: int = 1, a: string): Promise<string> => Promise.resolve(a + b));"],
    ["another type", BASE.replace("b: int", "b: float")],
    ["another unchecked type", BASE.replace("a: string", "a: Date")],
    ["a required parameter", BASE.replace("b: int = 1", "b: int")],
    ["null", BASE.replace("a: string", "a: string | null")],
    ["a literal", BASE.replace("b: int", 'b: int | "all"')],
    ["a file", BASE.replace("a: string", "a: File")],
    ["a further parameter", BASE.replace("b: int = 1", "b: int = 1, c?: string")],
    ["an object of parameters", BASE.replace("a: string, b: int = 1", "{ a, b = 1 }: { a: string; b?: int }")],
    ["a stream", "export const f = server(function* (a: string, b: int = 1): Generator<string> { yield a + b; });"],
    ["another result", BASE.replace("Promise<string>", "Promise<string | null>")],
    ["a result that is not annotated", BASE.replace(": Promise<string>", "")],
  ])("differs with %s", async (_change, code) => {
    expect(await hashOf(code)).not.toBe(await hashOf(BASE));
  });

  test.each([
    ["of a parameter", "export const f = server((item: Item) => item.id);"],
    ["of a result", "export const f = server((id: string): Item[] => []);"],
  ])("follows the types of other modules %s, but not their names", async (_where, code) => {
    const imported = `import type { Item } from "./types.ts";\n${code}`;
    const types = "export interface Item { id: string; n?: int; parent?: Item }";
    const first = await hashOf(imported, types);
    expect(await hashOf(imported, types.replace("n?", "m?"))).not.toBe(first);
    expect(await hashOf(imported, types.replace("id: string", "id: string | null"))).not.toBe(first);
    const renamed = "export interface Thing { id: string; n?: int; parent?: Thing }\nexport type Item = Thing;";
    expect(await hashOf(imported, renamed)).toBe(first);
  });
});
