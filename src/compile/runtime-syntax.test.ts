import { transformWithOxc } from "vite";
import { expect, it } from "vitest";
import { compileErrorOf } from "#test/in-memory-modules";
import { inlineUsingHelper, rejectUnsupportedSyntax } from "./runtime-syntax.ts";

/** Compiles a module of TypeScript as Vite does, and checks the result. */
async function check(code: string, decorator: { legacy?: boolean } = {}): Promise<void> {
  const file = "/app/src/counts.ts";
  const compiled = await transformWithOxc(code, file, { decorator, tsconfig: false } as object);
  rejectUnsupportedSyntax(compiled.code, () => ({ file, code }));
}

it.each([
  ["type A = 1;\nclass Counts {\n  accessor total = 0;\n}", { line: 3, column: 2 }, "`accessor` fields"],
  ["const log = (fn: unknown) => fn;\nclass Counts {\n  @log() add() {}\n}", { line: 3, column: 2 }, "Decorators"],
  [
    "const link = (fn: unknown) => fn;\nclass Counts {\n  /* a */ @link add() {}\n}",
    { line: 3, column: 10 },
    "Decorators",
  ],
  ["const sealed = (fn: unknown) => fn;\n@sealed\nclass Counts {}", { line: 2, column: 0 }, "Decorators"],
])("rejects what Node does not run, with its line in the source: %j", async (code, location, message) => {
  const error = await compileErrorOf(() => check(code));
  expect(error.loc).toMatchObject({ file: "/app/src/counts.ts", ...location });
  expect(error.message).toContain(message);
});

it("accepts decorators that were compiled, and other code with these characters", async () => {
  await check("const log = (fn: any) => fn;\nclass Counts {\n  @log add() {}\n}", { legacy: true });
  await check("/** Adds {@link b}.\n * @param a a@b */\n// @ts-ignore\nexport const add = (a: number) => a;");
  await check('const accessor = "a@example.org";\nexport const fields = { accessor };');
  expect(() => rejectUnsupportedSyntax("const @ = 1", () => ({ file: "/a.ts", code: "" }))).not.toThrow();
});

/** Runs a function body with `using` as a process does whose Node has none. Returns what it returns or throws, and the log. */
async function run(body: string): Promise<{ result: unknown; log: string[] }> {
  const log: string[] = [];
  const source = `async function run(resource) {\n${body}\n}`;
  const { code } = await transformWithOxc(source, "/app/run.js", {
    lang: "js",
    sourceType: "module",
    target: "es2025",
  });
  const compiled = inlineUsingHelper(code);
  expect(compiled).not.toMatch(/\busing [ab] =/);
  expect(compiled.split("\n")).toHaveLength(code.split("\n").length);
  const resource = (name: string, error?: string) => {
    const dispose = () => {
      log.push(name);
      if (error !== undefined) throw new Error(error);
    };
    return { [Symbol.dispose]: dispose };
  };
  const result = await new Function(`${compiled}\nreturn run;`)()(resource).catch((error: unknown) => error);
  return { result, log };
}

it("disposes of resources in reverse order, when the block ends or throws", async () => {
  expect(await run('using a = resource("a"), none = null; await using b = resource("b"); return a && 1;')).toEqual({
    result: 1,
    log: ["b", "a"],
  });
  const thrown = await run('{ using a = resource("a"); throw new RangeError("block"); }');
  expect(thrown).toEqual({ result: new RangeError("block"), log: ["a"] });
});

it.each(["using", "await using"])("keeps all errors: %s", async (using) => {
  const { result, log } = await run(
    `${using} a = resource("a", "of a"); ${using} b = resource("b", "of b"); throw new Error("block");`,
  );
  expect(log).toEqual(["b", "a"]);
  expect(result).toMatchObject({
    name: "SuppressedError",
    error: { message: "of a" },
    suppressed: { name: "SuppressedError", error: { message: "of b" }, suppressed: { message: "block" } },
  });
});

it.each([
  ["using a = 1;", "must be an object, a function, null or undefined"],
  ["using a = {};", "has no method [Symbol.dispose]()"],
  ["await using a = {};", "has no method [Symbol.asyncDispose]() or [Symbol.dispose]()"],
])("refuses what cannot be disposed of: %s", async (body, message) => {
  const { result } = await run(body);
  expect(result).toBeInstanceOf(TypeError);
  expect(String(result)).toContain(message);
});

it("waits for asynchronous disposal", async () => {
  const body = `const order = [];
    {
      await using a = { [Symbol.asyncDispose]: async () => { await null; order.push("disposed"); } };
      order.push("used");
    }
    return order;`;
  expect((await run(body)).result).toEqual(["used", "disposed"]);
});
