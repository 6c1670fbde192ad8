import { describe, expect, test } from "vitest";
import { compileErrorAt, compileErrorOf, inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import { checkLayoutChildren, readAppLayouts } from "./layout-children.ts";

const APP = 'import { App } from "tsweb";\n';
const PAGES = 'import { page } from "tsweb";\n';

/** Checks a module whose application it is, in a project with further files. */
async function check(file: string, code: string, files: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const resolver = inMemoryResolver(files);
  const facts = readTestModule(file, code);
  const entry = files["src/app.ts"] === undefined ? facts : await resolver.read("/app/src/app.ts");
  if (!entry) throw new Error("The application module is invalid.");
  return checkLayoutChildren(facts, await readAppLayouts(entry, resolver), resolver);
}

const inApp = (layout: string) => `${APP}${layout}\nexport default new App({ layout: Layout, modules: [] });`;

describe("a layout that never renders the page", () => {
  test.each([
    "const Layout = («{ children }: Children) => <main>Shop</main>;",
    "const Layout = async («{ children: page }) => { const user = await load(); return <main>{user}</main>; };",
    "function Layout(«{ children = null }) { return <><nav /></>; }",
    "function Layout(«props: Children) { return <main />; }",
    "const Layout = function («{ child }) { return <main>{child}</main>; } as never;",
    "function Layout(«{ title = 1 }) { return <main><Page children={title} /></main>; }",
  ])("is rejected at its parameter: %s", async (code) => {
    const error = await compileErrorAt("src/app.tsx", inApp(code), (text, file) => check(file, text));
    expect(error.message).toBe(
      "This layout never renders `children`, so it shows no page. Put `{children}` where the page belongs: " +
        "`({ children }) => <main>{children}</main>`.",
    );
  });

  test("is rejected in the module that contains it", async () => {
    const app = `${APP}import { Layout } from "./layout.server.tsx";\nexport default new App({ layout: Layout, modules: [] });`;
    const layout = "export async function Layout({ children }) { return <main />; }";
    const files = { "src/app.ts": app, "src/layout.server.tsx": layout };
    expect(await check("src/app.ts", app, files)).toEqual([]);
    const error = await compileErrorOf(() => check("src/layout.server.tsx", layout, files));
    expect(error.loc).toEqual({ file: "/app/src/layout.server.tsx", line: 1, column: 29 });
  });

  test("is rejected as the layout of a page", async () => {
    await compileErrorAt(
      "src/pages.server.tsx",
      `${PAGES}export const home = page("/", { layout: («{ children }) => <main /> }, () => <p />);`,
      (text) => check("src/pages.server.tsx", text, { "src/app.ts": APP }),
    );
  });

  test.each([
    "const Layout = () => <main>Closed</main>;",
    'const Layout = (() => "hello") as any;',
    "const Layout = async () => { return `hello`; };",
  ])("gets a warning without a parameter, because it may be on purpose: %s", async (layout) => {
    expect(await check("src/app.tsx", inApp(layout))).toEqual([
      "The layout at src/app.tsx:2 has no parameter `children`, so it shows no page. Put `{children}` where the page " +
        "belongs: `({ children }) => <main>{children}</main>`.",
    ]);
  });
});

test("a layout that is written in the application gets a warning", async () => {
  const code = `${APP}export default new App({\n  layout: (() => "hello") as any, modules: [] });`;
  expect(await check("src/app.ts", code)).toEqual([
    expect.stringContaining("The layout at src/app.ts:3 has no parameter"),
  ]);
});

test.each([
  "const Layout = ({ children }) => <main>{children}</main>;",
  "const Layout = ({ children }) => (user() ? <main>{children}</main> : <p>Closed</p>);",
  "const Layout = async (props) => <Shell {...props} />;",
  "const Layout = (props) => Outer(props);",
  "const Layout = ({ ...rest }) => <Shell {...rest} />;",
  'const Layout = ({ ["children"]: page }) => <main>{page}</main>;',
  "function Layout() { return <main>{arguments[0].children}</main>; }",
  "const Layout = (_props) => <p>Closed</p>;",
  "const Layout = ({ children: _children }) => <p>Closed</p>;",
  'const Layout = () => redirect("/moved");',
  "const Layout = () => { throw new NotFound(); };",
  "const Layout = () => null;",
  'const Layout = ({ children }) => "closed";',
  "let Layout = () => <p>Closed</p>; if (open) Layout = ({ children }) => children;",
  "const Layout = closed ? () => <p>Closed</p> : Open;",
  "const Layout = withNavigation(() => <nav />);",
])("a layout that renders the page, or leaves it out on purpose, is accepted: %s", async (code) => {
  expect(await check("src/app.tsx", inApp(code))).toEqual([]);
});
