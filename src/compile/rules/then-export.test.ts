import { describe, expect, it } from "vitest";
import { compileErrorOf, parseMarkedCode, readTestModule } from "#test/in-memory-modules";
import { mayContainDeclarations } from "../server-code.ts";

const IMPORT = 'import { server } from "tsweb";\n';

describe("a server module with an export then", () => {
  it.each([
    "export const «then = server(() => null);",
    "const next = server(() => null);\nexport { «next as then };",
    'export { «then } from "./other.server.ts";',
  ])("is rejected, because import() would wait for it forever: %s", async (text) => {
    const { location } = parseMarkedCode(IMPORT + text);
    const error = await compileErrorOf(() => readTestModule("src/calls.server.ts", IMPORT + text));
    expect(error.message).toContain("A module cannot export `then`");
    expect(error.loc).toMatchObject({ ...location });
  });

  it("is accepted if it is a type, or a function of another name", () => {
    readTestModule("src/calls.server.ts", `${IMPORT}export type then = 1;\nexport const next = server(() => 1);`);
  });
});

describe("a module without declarations", () => {
  it.each([
    "export const then = 1;",
    "export async function then() {}",
    "export function* then() {}",
    "export class then {}",
    "const next = 1;\nexport { next as then };",
    'export { then } from "./other.ts";',
    'export { default as then } from "./other.ts";',
    "const next = 1;\nexport { next as 'then' };",
    "export let then: number;",
    "export const first = 1, then = 2;",
    "export const first = 1,\n  then: number = 2;",
    "export const { then } = Promise.resolve(1);",
    "export const { first, next: then = 1 } = { first: 1, next: 2 };",
    "export const [then] = [1];",
    "export const { first, ...then } = { first: 1 };",
    'export * as then from "./other.ts";',
    'export * as "then" from "./other.ts";',
    "export enum then { a }",
    "export const enum then { a }",
    "export abstract class then {}",
    "export namespace then { export const a = 1; }",
    'import other = require("./other.ts");\nexport import then = other.next;',
  ])("is checked for an export then too: %s", async (text) => {
    expect(mayContainDeclarations(text)).toBe(true);
    const error = await compileErrorOf(() => readTestModule("src/plain.ts", text));
    expect(error.message).toContain("A module cannot export `then`");
  });

  it("is not parsed if it only uses that name", () => {
    expect(mayContainDeclarations("export const load = () => fetch(url).then((response) => response.json());")).toBe(
      false,
    );
  });
});
