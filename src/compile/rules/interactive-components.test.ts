import { describe, expect, test } from "vitest";
import { compileErrorOf, inMemoryResolver, parseMarkedCode, readTestModule } from "#test/in-memory-modules";
import { checkInteractiveComponents } from "./interactive-components.ts";

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

const check = (code: string, file = "src/a.server.tsx") =>
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
    const error = await compileErrorOf(() => check(code));
    expect(error.message).toContain(message);
    expect(error.message).toMatch(/Declare it as a view: `.*`, with `view` of "tsweb\/browser"\.$/);
    expect(error.loc).toEqual({ file: "/app/src/a.server.tsx", ...parseMarkedCode(HEAD + code).location });
  });

  test("is rejected as a default export, with the form of one", async () => {
    const error = await compileErrorOf(() => check("export const A = () => <«Main />;"));
    expect(error.message).toMatch(/^The component \(src\/parts\.tsx:14\) .*`export default view\(\(props\) => …\)`/);
  });

  test.each(["Live", "Static", "Inner", "Factory", "Wrapped", "Missing"])("is not %s", async (name) => {
    await expect(check(`export const A = () => <parts.${name} />;`)).resolves.toBeUndefined();
  });

  test("is accepted in another component, which may be part of a view", async () => {
    await expect(check("export const A = () => <parts.Counter />;", "src/a.tsx")).resolves.toBeUndefined();
  });
});
