import { describe, expect, test } from "vitest";
import { compileErrorOf, inMemoryResolver, parseMarkedCode, readTestModule } from "#test/in-memory-modules";
import { checkModule } from "./index.ts";
import { checkStubMembers } from "./stub-members.ts";

const FILES = {
  "src/book.server.ts": `
    import { server } from "tsweb";
    export const sign = server((name: string, text: string) => name + text);
    export const query = server(() => 1);
    export const client = { mutate() {}, query() {} };
  `,
  "src/barrel.ts": 'export { sign as add } from "./book.server.ts";',
  "src/client.ts": "export const sign = { mutate() {}, useQuery() {} };",
};

const HEAD = [
  'import { query, sign } from "./book.server.ts";',
  'import { client } from "./book.server.ts";',
  'import * as book from "./book.server.ts";',
  'import { add } from "./barrel.ts";',
  'import { sign as other } from "./client.ts";',
  'import { trpc } from "trpc-client";',
  "",
].join("\n");

const check = (text: string, file = "src/a.tsx") =>
  checkStubMembers(readTestModule(file, text), inMemoryResolver(FILES));

const inFunction = (statement: string) => `${HEAD}export async function run() { ${statement} }`;

describe("a method of other frameworks on an imported server function", () => {
  test.each([
    ['«sign.mutate({ name: "Ada" });', "sign has no mutate.", "await sign(name, text)"],
    ["const result = await «sign.query();", "sign has no query.", "await sign(name, text)"],
    ["const { data } = «sign.useQuery();", "sign has no useQuery.", "await sign(name, text)"],
    ["const add = «sign.useMutation();", "sign has no useMutation.", "await sign(name, text)"],
    ["«sign?.mutateAsync({});", "sign has no mutateAsync.", "await sign(name, text)"],
    ["later(() => «sign!.mutate());", "sign has no mutate.", "await sign(name, text)"],
    ["«query.query();", "query has no query.", "await query()"],
    ["«book.sign.mutate();", "book.sign has no mutate.", "await book.sign(name, text)"],
    ['«add["mutate"]();', "add has no mutate.", "await add(name, text)"],
  ])("is a compile error in browser code: %s", async (statement, problem, call) => {
    const text = inFunction(statement);
    const error = await compileErrorOf(() => check(text));
    expect(error.message).toBe(
      `${problem} It is called like a function: \`${call}\`, in an event handler or in on_mount.`,
    );
    expect(error.loc).toEqual({ file: "/app/src/a.tsx", ...parseMarkedCode(text).location });
  });
});

test("the method is reported, and not the call, where markup contains it and the server renders the view", async () => {
  const text = `import { view } from "tsweb/browser";\n${HEAD}export const Book = view(() => <p>{sign.useQuery().data}</p>);`;
  const error = await compileErrorOf(() => checkModule(readTestModule("src/a.tsx", text), inMemoryResolver(FILES)));
  expect(error.message).toMatch(/^sign has no useQuery\./);
});

test.each([
  'await sign("Ada", "Hello");',
  'await sign.named({ name: "Ada" });',
  "await query();",
  "await book.query();",
  "client.mutate();",
  "other.mutate(); other.useQuery();",
  "trpc.sign.mutate();",
  "const sign = trpc.sign; sign.mutate();",
  "run2(({ sign }) => sign.useMutation());",
  "return sign.query;",
])("other calls and members are accepted: %s", async (statement) => {
  await expect(check(inFunction(statement))).resolves.toBeUndefined();
});

test("a server module is not checked", async () => {
  await expect(check(inFunction("sign.mutate();"), "src/b.server.ts")).resolves.toBeUndefined();
});
