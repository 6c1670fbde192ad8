import { describe, expect, test } from "vitest";
import { compileErrorOf, inMemoryResolver, parseMarkedCode } from "#test/in-memory-modules";
import { checkReturnedStreams } from "./returned-streams.ts";

const IMPORT = 'import { server, type Stream } from "tsweb";\n';
const OTHERS = {
  "src/steps.ts":
    "export async function* steps() { yield 1; }\nexport const list = () => [1];\nexport { steps as default };",
  "src/barrel.ts": 'export { steps as walk } from "./steps.ts";',
  "src/b.server.ts":
    'import { server } from "tsweb";\nexport const ticks = server(function* () { yield 1; });\nexport const one = server(() => 1);',
};

async function check(code: string): Promise<void> {
  const resolver = inMemoryResolver({ ...OTHERS, "src/a.server.ts": IMPORT + code });
  const facts = await resolver.read("/app/src/a.server.ts");
  if (!facts) throw new Error("The module of the test cannot be read.");
  await checkReturnedStreams(facts, resolver);
}

describe("a server function that returns a stream but is not written with function* is rejected", () => {
  test.each([
    "async function* g() {}\nexport const f = server(() => «g());",
    "function* g() {}\nexport const f = server(() => «g());",
    "const g = async function* () {};\nexport const f = server(async () => «await g());",
    "const g = async function* () {};\nexport const f = server((n: boolean) => { if (n) { return «g(); } return g; });",
    "export const g = server(function* () { yield 1; });\nexport const f = server(() => «g());",
    "export const g = server(function* () { yield 1; });\nexport const f = server(() => «g.named({}));",
    "const g = server(function* () { yield 1; });\nexport { g as other };\nexport const f = server(() => «g());",
    'import { ticks } from "./b.server.ts";\nexport const f = server(() => «ticks());',
    'import * as b from "./b.server.ts";\nexport const f = server(() => «b.ticks());',
    'import { steps } from "./steps.ts";\nexport const f = server(() => «steps());',
    'import walk from "./steps.ts";\nexport const f = server(() => «walk());',
    'import { walk } from "./barrel.ts";\nexport const f = server(() => «walk());',
    "export const f = server((): «AsyncGenerator<number> => make());",
    "export const f = server((): «Stream<number> => make());",
    "export const f = server(async (): «Promise<Stream<number>> => make());",
    "export const f = server((): «IterableIterator<number> => [1].values());",
    "export const f = server(() => «(async function* () {})());",
    "export const f = server(() => { function* own() {} return «own(); });",
    "export const f = server(h);\nasync function* g() {}\nfunction h() { return «g(); }",
  ])("in `%s`", async (code) => {
    const { location } = parseMarkedCode(IMPORT + code);
    const error = await compileErrorOf(() => check(code));
    expect(error.message).toContain('The server function "f" returns a stream, so it must be written with function*');
    expect(error.loc).toEqual({ file: "/app/src/a.server.ts", ...location });
  });
});

describe("a server function that returns no stream, or one that the source does not show, is accepted", () => {
  test.each([
    "async function* g() {}\nexport const f = server(async function* () { yield* g(); });",
    "async function* g() {}\nexport const f = server(async () => { for await (const n of g()) return n; });",
    "async function* g() {}\nexport const f = server(() => Array.from(g()));",
    "async function* g() {}\nexport const f = server(() => { const inner = () => { return g(); }; return 1; });",
    "async function* g() {}\nexport const f = server((g: () => number) => g());",
    "export const f = server((): Iterable<number> => [1]);",
    "type Stream2 = string;\nexport const f = server((): Stream2 => 'x');",
    "interface AsyncGenerator { a: string }\nexport const f = server((): AsyncGenerator => ({ a: 'x' }));",
    'import { one } from "./b.server.ts";\nexport const f = server(() => one());',
    'import { list } from "./steps.ts";\nexport const f = server(() => list());',
    'import { steps } from "./gone.ts";\nexport const f = server(() => steps());',
    "export const f = server(() => unknown());",
  ])("in `%s`", async (code) => {
    await expect(check(code)).resolves.toBeUndefined();
  });
});
