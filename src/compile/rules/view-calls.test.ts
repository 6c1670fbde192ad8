import { describe, expect, test } from "vitest";
import { compileErrorOf, inMemoryResolver, parseMarkedCode, readTestModule } from "#test/in-memory-modules";
import { checkViewCalls } from "./view-calls.ts";

const FILES = {
  "src/counter.tsx":
    'import { view } from "tsweb/browser";\nexport const Counter = view(() => <b />);\nexport const Plain = () => <b />;\nexport default view(() => <b />);',
  "src/barrel.ts": 'export { Counter as Renamed } from "./counter.tsx";',
};
const HEAD = `import { page, server } from "tsweb";
import Default, { Counter, Plain } from "./counter.tsx";
import * as views from "./counter.tsx";
import { Renamed } from "./barrel.ts";
import { Other } from "other";
`;

const check = (code: string, file = "src/pages.server.tsx") =>
  checkViewCalls(readTestModule(file, HEAD + code), inMemoryResolver(FILES));

describe("a call of a view as a function", () => {
  test.each([
    ['export const home = page("/", () => <main>{«Counter({})}</main>);', "Counter", "Counter"],
    ['export const home = page("/", async () => <main>{«Counter({ n: await load() })}</main>);', "Counter", "Counter"],
    ['export const home = page("/", { title: "A" }, () => «Counter({}));', "Counter", "Counter"],
    [
      'export const home = page("/", () => { const view = «views.Counter({}); return view; });',
      "Counter",
      "views.Counter",
    ],
    ['export const home = page("/", () => <p>{ids.map((id) => «Renamed({ id }))}</p>);', "Counter", "Renamed"],
    ['export const home = page("/", function () { if (a) return «Default({}); return null; });', "default", "Default"],
  ])("is rejected in the function of a page: %s", async (code, name, element) => {
    const error = await compileErrorOf(() => check(code));
    expect(error.message).toBe(
      `The view "${name}" is called as a function. Write it as an element: \`<${element} … />\`.`,
    );
    expect(error.loc).toEqual({ file: "/app/src/pages.server.tsx", ...parseMarkedCode(HEAD + code).location });
  });

  test.each([
    'export const home = page("/", () => <main>{Plain({})}<Counter /></main>);',
    'export const home = page("/", () => { const Counter = (p: object) => <b />; return Counter({}); });',
    'export const home = page("/", () => { const Part = () => Counter({}); return <Part />; });',
    'const Part = () => <p>{Counter({})}</p>;\nexport const home = page("/", () => <Part />);',
    'export const home = page("/", () => <main>{Other({})}{render(Counter)}</main>);',
  ])("is accepted where it may work: %s", async (code) => {
    await expect(check(code)).resolves.toBeUndefined();
  });

  test("is accepted outside of server modules", async () => {
    await expect(check("export const Part = () => Counter({});", "src/part.tsx")).resolves.toBeUndefined();
  });
});
