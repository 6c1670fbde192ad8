import { describe, expect, test } from "vitest";
import { compileErrorAt, inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import { checkMarkup } from "./jsx-checks.ts";

const FILES = {
  "src/data.server.ts": `
    import { server } from "tsweb";
    export const load = server((id: string) => id);
    export const plain = () => 1;
  `,
  "src/barrel.ts": 'export { load as fetchIt } from "./data.server.ts"; export { SignIn } from "./sign-in.tsx";',
  "src/sign-in.tsx": `
    import { view } from "tsweb/browser";
    export const SignIn = view(() => <p />);
    export const Plain = ({ children }) => <p>{children}</p>;
    export default view(() => <p />);
  `,
};

const HEAD = [
  'import { load, plain } from "./data.server.ts";',
  'import * as data from "./data.server.ts";',
  'import { fetchIt } from "./barrel.ts";',
  'import Default, { SignIn, Plain } from "./sign-in.tsx";',
  'import * as views from "./sign-in.tsx";',
  'import { SignIn as Renamed } from "./barrel.ts";',
  "",
].join("\n");

const check = (text: string, file: string) => checkMarkup(readTestModule(file, text), inMemoryResolver(FILES));

describe("a server call as the action of a form", () => {
  test.each([
    [
      "const A = () => <form action={«load('1')} />;",
      "Write action={load}: the fields of the form become the arguments.",
    ],
    ["const A = () => <form action={«data.load()} />;", "Write action={data.load}:"],
    ["const A = () => <button formAction={«fetchIt()} />;", "Write formAction={fetchIt}:"],
  ])("is rejected with its fix: %s", async (code, fix) => {
    const error = await compileErrorAt("src/a.tsx", HEAD + code, check);
    expect(error.message).toContain("This calls the server function during the rendering.");
    expect(error.message).toContain(fix);
  });

  test("is accepted if it is another function, which may return an address", async () => {
    const code = `${HEAD}const A = () => <form action={plain()}><button formAction={pathOf("a")} /></form>;`;
    await expect(check(code, "src/a.tsx")).resolves.toBeUndefined();
  });
});

describe("a server call in markup", () => {
  test.each([
    "const A = () => <p>{«load('1')}</p>;",
    "const A = async () => <p>{await «load('1')}</p>;",
    "const A = () => <p title={«load('1')} />;",
    "const A = () => <p {...«load('1')} />;",
    "const A = () => <>{«load('1')}</>;",
    "const A = () => <p>{ok ? «load('1') : null}</p>;",
    "const A = () => <p>{format(«load('1'))}</p>;",
    "const A = () => <p>{[«load('1')]}</p>;",
    "const A = () => <p>{«load('1').then(show)}</p>;",
    "const A = () => <p>{«load?.('1')}</p>;",
    "const A = () => <p>{«load.named({ id: '1' })}</p>;",
    "const A = () => <p>{«data.load('1')}</p>;",
    "const A = () => <p>{«data['load']('1')}</p>;",
    "const A = () => <p>{«data.load.named({})}</p>;",
    "const A = () => <p>{«fetchIt('1')}</p>;",
    "const A = () => <p>{«(load as any)('1')}</p>;",
    "const A = () => <p>{items.map((item) => <b>{«load(item)}</b>)}</p>;",
    "const A = () => <List item={<b>{«load('1')}</b>} />;",
    "const A = () => <p>{items.map((item) => «load(item))}</p>;",
    "const A = () => <p>{«items.map(load)}</p>;",
    "const A = () => <p>{items.map((item) => { const x = «load(item); return x; })}</p>;",
    "const A = () => <p>{items.filter(ok).map(function (item) { return «load(item); })}</p>;",
    "const A = () => <p>{items.flatMap((item) => [«data.load(item)])}</p>;",
    "const A = () => <p>{items?.map((item) => «load(item))}</p>;",
    "const A = () => <p>{items['map']((item) => «load(item))}</p>;",
    "const A = () => <p>{items.map(async (item) => await «load(item))}</p>;",
    "const A = () => <p>{Array.from(items, (item) => «load(item))}</p>;",
    "const A = () => <p>{rows.map((row) => row.map((item) => «load(item)))}</p>;",
    "const A = () => <p>{(() => «load('1'))()}</p>;",
    "const A = () => <p title={items.map((item) => «load(item))} />;",
    "const A = () => <p>{items.map((item) => «fetchIt(item).then(show))}</p>;",
  ])("is rejected: %s", async (code) => {
    const error = await compileErrorAt("src/a.tsx", HEAD + code, check);
    expect(error.message).toMatch(/^A server call cannot be used in markup/);
  });

  test.each([
    "const A = () => <button onClick={load.bind(null, '1')} />;",
    "const A = () => <form action={data.load.bind(null, '1')} />;",
  ])("is not made by bind(): %s", async (code) => {
    await check(HEAD + code, "src/a.tsx");
  });

  test.each([
    "export const p = page('/', async () => <p>{await load('1')}</p>);",
    "export const p = page('/', async () => <p>{(await load.named({ id: '1' })).name}</p>);",
    "export const p = page('/', async () => <p title={await (data.load)('1')} />);",
    "export const p = page('/', async () => <p>{await Promise.all(ids.map((id) => load(id)))}</p>);",
    "export const p = page('/', async () => <p>{await Promise.all(ids.map(load))}</p>);",
    "export const p = page('/', async () => <p>{(await Promise.allSettled([load('1'), load('2')])).length}</p>);",
    "export const p = page('/', async () => <p>{await Promise.all(ids.map(async (id) => (await load(id)).name))}</p>);",
  ])("is accepted in a page when it is awaited: %s", async (code) => {
    await check(`${HEAD}import { page } from "tsweb";\n${code}`, "src/a.server.tsx");
  });

  test.each([
    "export const p = page('/', async () => <p>{await plain(«load('1'))}</p>);",
    "export const p = page('/', async () => <p>{await f(() => 1, «load('1'))}</p>);",
    "export const p = page('/', async () => <p>{ids.map(async (id) => await «load(id))}</p>);",
    "export const p = page('/', async () => <p>{Promise.all(ids.map((id) => «load(id)))}</p>);",
  ])("is rejected in a page inside another call that is awaited: %s", async (code) => {
    await compileErrorAt("src/a.server.tsx", `${HEAD}import { page } from "tsweb";\n${code}`, check);
  });

  test("is rejected for a function of the same module", async () => {
    const text =
      'import { server, page } from "tsweb";\nexport const f = server(() => 1);\nexport const p = page("/", () => <p>{«f()}</p>);';
    await compileErrorAt("src/a.server.tsx", text, check);
  });

  test.each([
    "const A = () => <button onClick={() => load('1')} />;",
    "const A = () => <button onClick={async () => { await load('1'); }} />;",
    "const A = () => <button onClick={function () { load('1'); }} />;",
    "const A = () => <List load={load} />;",
    "const A = () => <p>{plain()}</p>;",
    "const A = () => <p>{data.plain()}</p>;",
    "const A = async () => { const x = await load('1'); return <p>{x}</p>; };",
    "const A = ({ load }) => <p>{load('1')}</p>;",
    "const A = () => <p>{other.load('1')}</p>;",
    "const A = () => <p>{}</p>;",
    "const A = () => <p>{items.map((item) => <button onClick={() => load(item)} />)}</p>;",
    "const A = () => <p>{items.map((item) => { const save = () => load(item); return <b onClick={save} />; })}</p>;",
    "const A = () => <p>{items.map((load) => load(1))}</p>;",
    "const A = () => <p>{items.map((item) => { const load = (x) => x; return load(item); })}</p>;",
    "const A = () => <p>{button('Save', () => load('1'))}</p>;",
    "const A = () => <button onClick={debounce(() => load('1'))} />;",
    "const A = () => <p>{items.map((item) => plain(item))}</p>;",
  ])("is not found in %s", async (code) => {
    await expect(check(HEAD + code, "src/a.tsx")).resolves.toBeUndefined();
  });
});

describe("a function in a page's markup", () => {
  const page = (markup: string) =>
    `${HEAD}const go = () => 1; function went() {} const title = "x";\nexport const A = ({ pick }) => ${markup};`;

  test.each([
    "<button «onClick={() => 1} />",
    "<button «onClick={function () {}} />",
    "<button «onClick={go} />",
    "<button «onClick={went} />",
    "<button «onClick={pick} />",
    '<button «onClick="go()" />',
    "<button «onClick />",
    "<p «ref={() => 1} />",
    "<p «title={ok ? go : null} />",
    "<p «title={ok && (() => 1)} />",
    "<my-element «handler={go} />",
    "<List «onPick={() => 1} />",
    "<List «onPick={go} />",
    "<List «onPick={pick} />",
    "<SignIn «onDone={make()} />",
    "<b><List «onPick={go} /></b>",
  ])("is rejected: %s", async (markup) => {
    const error = await compileErrorAt("src/a.server.tsx", page(markup), check);
    expect(error.message).toMatch(/^This function would never be called/);
    const isComponent = /<[A-Z][^<]*«/.test(markup);
    expect(error.message).toContain(
      isComponent ? "Declare the function in the module of the view" : "Move this element into a view",
    );
  });

  test.each([
    "<List render={(item) => <b>{item}</b>} />",
    "<List render={go} />",
    "<List onSale />",
    '<List onSale={true} onList="yes" onIds={[1]} onOther={{ a: 1 }} onNone={undefined} />',
    "<p title={title}>{title}</p>",
    "<p only={1} once={2} />",
    "<List>{(item) => <b>{item}</b>}</List>",
  ])("is accepted where it may be called: %s", async (markup) => {
    await expect(check(page(markup), "src/a.server.tsx")).resolves.toBeUndefined();
  });

  test("is accepted outside a server module", async () => {
    await expect(check(page("<button onClick={go} />"), "src/a.tsx")).resolves.toBeUndefined();
  });
});

describe("children of a view in a page", () => {
  test.each([
    ["<SignIn>«<b /></SignIn>", "SignIn"],
    ["<SignIn>«text</SignIn>", "SignIn"],
    ["<SignIn>«{1}</SignIn>", "SignIn"],
    ["<SignIn>« </SignIn>", "SignIn"],
    ["<SignIn «children={1} />", "SignIn"],
    ["<views.SignIn>«<b /></views.SignIn>", "SignIn"],
    ["<Renamed>«<b /></Renamed>", "SignIn"],
    ["<Default>«<b /></Default>", "default"],
    ["<Plain><SignIn>«<b /></SignIn></Plain>", "SignIn"],
  ])("are rejected: %s", async (markup, name) => {
    const error = await compileErrorAt("src/a.server.tsx", `${HEAD}export const A = () => ${markup};`, check);
    expect(error.message).toMatch(new RegExp(`^The view "${name}" cannot have children in a page`));
  });

  test.each([
    "<SignIn />",
    "<SignIn></SignIn>",
    "<SignIn>\n  </SignIn>",
    "<SignIn>{/* nothing */}</SignIn>",
    "<Plain><b /></Plain>",
    "<views.Plain><b /></views.Plain>",
    "<Unknown><b /></Unknown>",
    "<p><b /></p>",
  ])("are not found in %s", async (markup) => {
    await expect(check(`${HEAD}export const A = () => ${markup};`, "src/a.server.tsx")).resolves.toBeUndefined();
  });

  test("are accepted in a module of the browser", async () => {
    await expect(check(`${HEAD}export const A = () => <SignIn><b /></SignIn>;`, "src/a.tsx")).resolves.toBeUndefined();
  });
});

describe("state() at module level", () => {
  const STATE = 'import { state, state as kept, view } from "tsweb/browser";\n';

  test.each([
    "export const shared = «state({ n: 1 });",
    "const shared = «kept({ n: 1 }) as Shared;",
    "const all = [«state({})];",
    "if (true) { const shared = «state({}); }",
    "export const A = view(() => 1);\nconst shared = wrap(«state({}));",
  ])("is rejected at its location: %s", async (code) => {
    const error = await compileErrorAt("src/a.tsx", STATE + code, check);
    expect(error.message).toMatch(/^`state\(\)` cannot be used at module level/);
  });

  test.each([
    "export const A = view(() => { const own = state({}); return 1; });",
    "export function useOwn() { return state({}); }",
    "const make = () => state({});",
    "class Store { make() { return state({}); } }",
    "const state = 1; const other = { state: () => 1 }; other.state();",
  ])("is not found in %s", async (code) => {
    const imports = code.startsWith("const state") ? "" : STATE;
    await expect(check(imports + code, "src/a.tsx")).resolves.toBeUndefined();
  });
});

describe("markup that is a statement", () => {
  test.each([
    "const A = () => { «<p /> };",
    "const A = () => { («<p />) };",
    "function A() { «<p />; }",
    "const A = () => <ul>{items.map((item) => { «<li>{item}</li>; })}</ul>;",
    "const A = () => { if (ok) «<p />; return <b />; };",
    "const A = () => { «<>text</>; };",
  ])("is rejected: %s", async (code) => {
    const error = await compileErrorAt("src/a.tsx", code, check);
    expect(error.message).toMatch(/^This markup is not used, because its function does not return it\. Write `return`/);
  });

  test.each([
    "const A = () => { return <p />; };",
    "const A = () => { const row = <li />; return row; };",
    "const A = () => { rows.push(<li />); return rows; };",
    "const A = () => ok && <p />;",
    "let row; row = <li />;",
  ])("is no statement: %s", (code) => expect(check(code, "src/a.tsx")).resolves.toBeUndefined());
});
