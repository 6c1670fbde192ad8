import { describe, expect, it } from "vitest";
import { inMemoryResolver } from "#test/in-memory-modules";
import { readLayoutViews, readPageViews } from "./page-views.ts";

const VIEW = 'import { view } from "tsweb/browser";\n';

const FILES = {
  "src/counter.tsx": `${VIEW}export const Counter = view(() => <b />);\nexport const Other = view(() => <b />);\nexport const LABEL = "x";`,
  "src/outer.tsx": `${VIEW}import { Counter } from "./counter.tsx";\nexport const Outer = view(() => <Counter />);`,
  "src/default.tsx": `${VIEW}export default view(() => <b />);`,
  "src/barrel.ts":
    'export * from "./counter.tsx";\nexport { Outer as Renamed } from "./outer.tsx";\nexport * from "./barrel.ts";',
  "src/namespace.ts": 'export * as views from "./counter.tsx";',
  "src/parts.tsx":
    'import { Counter } from "./counter.tsx";\nimport { Outer } from "./outer.tsx";\nfunction Inner() { return <Outer />; }\n' +
    "export const Part = () => <Inner />;\nexport function Cycle() { return Math.random() > 1 ? <Cycle /> : <Counter />; }\n" +
    "export default () => <Counter />;",
  "src/other.server.tsx":
    'import { page, server } from "tsweb";\nimport { Outer } from "./outer.tsx";\n' +
    'export const other = page("/other", () => <Outer />);\nexport const save = server(() => { console.log(Outer); });',
};

const IMPORTS = `import { page } from "tsweb";
import { Counter, LABEL, Other, type Counter as CounterType } from "./counter.tsx";
import * as views from "./counter.tsx";
import Default from "./default.tsx";
import { Outer } from "./outer.tsx";
import { Renamed } from "./barrel.ts";
import { views as exported } from "./namespace.ts";
import DefaultPart, { Cycle, Part } from "./parts.tsx";
import { other, save } from "./other.server.tsx";
`;

async function pagesOf(code: string) {
  const resolver = inMemoryResolver({ ...FILES, "src/pages.server.tsx": IMPORTS + code });
  const facts = await resolver.read("/app/src/pages.server.tsx");
  if (!facts) throw new Error("The module of the test cannot be read.");
  const pages = await readPageViews(facts, resolver);
  return pages.map((page) => ({ ...page, views: page.views.map(({ file, name }) => `${file} ${name}`) }));
}

const COUNTER = "src/counter.tsx Counter";
const OUTER = "src/outer.tsx Outer";

describe("the views of a page", () => {
  it.each<[string, string[]]>([
    ["() => <Counter />", [COUNTER]],
    ["() => h(Counter, null)", [COUNTER]],
    ["({ id }) => (id ? <Counter /> : <Other />)", [COUNTER, "src/counter.tsx Other"]],
    ["() => <views.Counter />", [COUNTER]],
    ["() => h(views.Counter, null)", [COUNTER]],
    ["({ id }) => h(views[id], null)", [COUNTER, "src/counter.tsx Other"]],
    ["() => <exported.Counter />", [COUNTER, "src/counter.tsx Other"]],
    ["() => <Default />", ["src/default.tsx default"]],
    ["() => <Renamed />", [OUTER]],
    ["() => <Part />", [OUTER]],
    ["() => <DefaultPart />", [COUNTER]],
    ["() => <Cycle />", [COUNTER]],
    ["() => <Local />);\nconst Local = () => <Outer />;\nvoid (0", [OUTER]],
    ["() => KINDS.a());\nconst KINDS = { a: () => <Outer />, b: () => <Counter /> };\nvoid (0", [OUTER, COUNTER]],
    ["{ layout: ({ children }) => <><Counter />{children}</> }, () => <Outer />", [COUNTER, OUTER]],
  ])("are those that its code names: %s", async (code, views) => {
    const [page] = await pagesOf(`export const home = page("/:id", ${code});`);
    expect(page?.views).toEqual(views);
  });

  it.each([
    "() => <p title={LABEL}>{other.path}</p>",
    "() => <form action={save} />",
    "() => { const Counter = () => <b />; return <Counter />; }",
    "(): CounterType => <b />",
    '() => <p Counter="x">{({ Counter: 1 }).Counter}</p>',
    "() => <counter />",
  ])("are not those that it only imports, or has other values of: %s", async (code) => {
    const [page] = await pagesOf(`export const home = page("/", ${code});`);
    expect(page?.views).toEqual([]);
  });

  it("do not include those of other pages of the module", async () => {
    const pages = await pagesOf(
      'export const a = page("/", () => <Counter />);\nexport const b = page("/b", { layout: false }, () => <Outer />);\n' +
        'const PATH = "/c";\nexport const c = page(PATH, { title: "C" }, () => <p />);',
    );
    const file = "src/pages.server.tsx";
    expect(pages).toEqual([
      { file, line: 10, name: "a", path: "/", hasOwnLayout: false, views: [COUNTER] },
      { file, line: 11, name: "b", path: "/b", hasOwnLayout: true, views: [OUTER] },
      { file, line: 13, name: "c", hasOwnLayout: false, views: [] },
    ]);
  });
});

it("the views of the layout of an application are those of its option, and not those of its pages", async () => {
  const resolver = inMemoryResolver({
    ...FILES,
    "src/app.ts":
      'import { App } from "tsweb";\nimport { Part } from "./parts.tsx";\nimport { Counter } from "./counter.tsx";\n' +
      'import * as pages from "./other.server.tsx";\nexport default new App({ layout: Part, error: Counter, modules: [pages] });',
  });
  const entry = await resolver.read("/app/src/app.ts");
  expect(entry && (await readLayoutViews(entry, resolver))).toEqual([{ file: "src/outer.tsx", name: "Outer" }]);
});
