import { describe, expect, test } from "vitest";
import { compileErrorAt, compileErrorOf, inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import { checkInteractiveComponents, checkViewCalls } from "./views.ts";

const CALLED_FILES = {
  "src/counter.tsx":
    'import { view } from "tsweb/browser";\nexport const Counter = view(() => <b />);\nexport const Plain = () => <b />;\nexport default view(() => <b />);',
  "src/barrel.ts": 'export { Counter as Renamed } from "./counter.tsx";',
};
const CALLED_HEAD = `import { page, server } from "tsweb";
import Default, { Counter, Plain } from "./counter.tsx";
import * as views from "./counter.tsx";
import { Renamed } from "./barrel.ts";
import { Other } from "other";
`;

const checkCalls = (code: string, file = "src/pages.server.tsx") =>
  checkViewCalls(readTestModule(file, CALLED_HEAD + code), inMemoryResolver(CALLED_FILES));

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
    const error = await compileErrorAt("src/pages.server.tsx", CALLED_HEAD + code, () => checkCalls(code));
    expect(error.message).toBe(
      `The view "${name}" is called as a function. Write it as an element: \`<${element} … />\`.`,
    );
  });

  test.each([
    'export const home = page("/", () => <main>{Plain({})}<Counter /></main>);',
    'export const home = page("/", () => { const Counter = (p: object) => <b />; return Counter({}); });',
    'export const home = page("/", () => { const Part = () => Counter({}); return <Part />; });',
    'const Part = () => <p>{Counter({})}</p>;\nexport const home = page("/", () => <Part />);',
    'export const home = page("/", () => <main>{Other({})}{render(Counter)}</main>);',
  ])("is accepted where it may work: %s", async (code) => {
    await expect(checkCalls(code)).resolves.toBeUndefined();
  });

  test("is accepted outside of server modules", async () => {
    await expect(checkCalls("export const Part = () => Counter({});", "src/part.tsx")).resolves.toBeUndefined();
  });
});

const FILES = {
  "src/parts.tsx": `
    import { on_mount, state, view } from "tsweb/browser";
    import * as web from "tsweb/browser";
    export function Counter() { const s = state({ n: 1 }); return <b>{s.n}</b>; }
    export const Clock = (() => { on_mount(() => {}); return <b />; }) as unknown as Component;
    export const Other = () => { web.state({}); return <b />; };
    export const Button = () => <button onClick={() => go()}>Go</button>;
    export const Named = () => { const go = () => 1; return <p><button onClick={go}>Go</button></p>; };
    export const Live = view(() => { const s = state({}); return <button onClick={() => s}>Go</button>; });
    export const Static = ({ onClick, children }) => <button onClick={onClick} {...children}>Go</button>;
    export const Inner = () => <List items={[1].map((n) => <Live onPick={() => n} />)} />;
    export const Factory = () => { const make = () => state({}); return <p onCopy={undefined} />; };
    export const Wrapped = memo(() => <button onClick={() => go()}>Go</button>);
    export default function () { on_mount(() => {}); return <b />; }
  `,
  "src/barrel.ts": 'export { Counter as Renamed } from "./parts.tsx";',
};

const HEAD = 'import Main, * as parts from "./parts.tsx";\nimport { Renamed } from "./barrel.ts";\n';

const checkComponents = (code: string, file = "src/a.server.tsx") =>
  checkInteractiveComponents(readTestModule(file, HEAD + code), inMemoryResolver(FILES));

describe("a component in a page that needs a browser and is no view", () => {
  test.each([
    ["export const A = () => <«parts.Counter />;", "Counter (src/parts.tsx:4) calls state() and is not a view"],
    ["export const A = () => <p><«parts.Clock /></p>;", "Clock (src/parts.tsx:5) calls on_mount()"],
    ["export const A = () => <«parts.Other />;", "calls state()"],
    ["export const A = () => <«parts.Button />;", "has an event handler"],
    ["export const A = () => <«parts.Named>x</parts.Named>;", "has an event handler"],
    ["export const A = () => <«Renamed />;", "`export const Counter = view((props) => …)`"],
  ])("is rejected: %s", async (code, message) => {
    const error = await compileErrorAt("src/a.server.tsx", HEAD + code, () => checkComponents(code));
    expect(error.message).toContain(message);
    expect(error.message).toMatch(/Declare it as a view: `.*`, with `view` of "tsweb\/browser"\.$/);
  });

  test("is rejected as a default export, with the form of one", async () => {
    const error = await compileErrorOf(() => checkComponents("export const A = () => <«Main />;"));
    expect(error.message).toMatch(/^The component \(src\/parts\.tsx:14\) .*`export default view\(\(props\) => …\)`/);
  });

  test.each(["Live", "Static", "Inner", "Factory", "Wrapped", "Missing"])("is not %s", async (name) => {
    await expect(checkComponents(`export const A = () => <parts.${name} />;`)).resolves.toBeUndefined();
  });

  test("is accepted in another component, which may be part of a view", async () => {
    await expect(checkComponents("export const A = () => <parts.Counter />;", "src/a.tsx")).resolves.toBeUndefined();
  });
});
