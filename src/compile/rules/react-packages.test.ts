import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { checkPreactCopies, rejectReact } from "./react-packages.ts";

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true });
});

/** Creates a project with installed packages: names and versions by folder. The default name is that of the folder. */
function project(packages: Readonly<Record<string, { name?: string; version: string }>>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-react-")));
  roots.push(root);
  for (const [folder, manifest] of Object.entries(packages)) {
    const file = join(root, folder, "package.json");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ name: folder.slice(folder.lastIndexOf("node_modules/") + 13), ...manifest }));
  }
  return root;
}

const compat = { name: "@preact/compat", version: "18.3.2" };
const tsweb = { "node_modules/tsweb": { version: "0.1.0" } };

describe("checkPreactCopies", () => {
  test("accepts one copy that all packages load", () => {
    const root = project({
      ...tsweb,
      "node_modules/preact": { version: "11.2.0" },
      "node_modules/preact-render-to-string": { version: "6.8.2" },
      "node_modules/react": compat,
      "node_modules/react-dom": compat,
    });
    expect(() => checkPreactCopies(root)).not.toThrow();
  });

  test.each([
    ["without tsweb", { "node_modules/preact": { version: "10.0.0" } }],
    ["without Preact", tsweb],
    [
      "in which React itself is installed, for example to render emails",
      {
        ...tsweb,
        "node_modules/preact": { version: "11.2.0" },
        "node_modules/react": { version: "19.0.0" },
        "node_modules/react/node_modules/preact": { version: "10.0.0" },
      },
    ],
  ])("accepts a project %s", (_what, packages) => {
    expect(() => checkPreactCopies(project(packages))).not.toThrow();
  });

  test("lists the copies, what loads them, and the command that installs one", () => {
    const root = project({
      ...tsweb,
      "node_modules/tsweb/node_modules/preact": { version: "11.2.0" },
      "node_modules/preact": { version: "10.29.0" },
      "node_modules/preact-render-to-string": { version: "6.8.2" },
      "node_modules/react": compat,
    });
    expect(() => checkPreactCopies(root)).toThrow(
      "Several copies of Preact are installed, so hooks and contexts would fail:\n" +
        "  11.2.0 in node_modules/tsweb/node_modules/preact, loaded by tsweb\n" +
        "  10.29.0 in node_modules/preact, loaded by preact-render-to-string and react and the application\n" +
        "Install the one that tsweb loads: npm install preact@11.2.0, then npm dedupe",
    );
  });

  test.each(["react", "react-dom", "preact-render-to-string"])("finds a copy that only %s loads", (name) => {
    const root = project({
      ...tsweb,
      "node_modules/preact": { version: "11.2.0" },
      [`node_modules/${name}`]: name.startsWith("react") ? compat : { version: "6.8.2" },
      [`node_modules/${name}/node_modules/preact`]: { version: "11.2.0" },
    });
    expect(() => checkPreactCopies(root)).toThrow(`node_modules/${name}/node_modules/preact, loaded by ${name}\n`);
  });
});

describe("rejectReact", () => {
  const widget = "node_modules/widget/index.js";

  test.each(["react", "react-dom", "react/jsx-runtime", "react-dom/client"])(
    "rejects the import of %s from React itself, with the location and the fix",
    (source) => {
      const root = project({
        "node_modules/react": { version: "19.1.0" },
        "node_modules/react-dom": { version: "19.1.0" },
      });
      const [name] = source.split("/");
      expect(() => rejectReact(source, `${root}/src/chart.tsx`, root)).toThrow(
        `src/chart.tsx imports ${source}, which is React itself (node_modules/${name}, version 19.1.0). `,
      );
      expect(() => rejectReact(source, `${root}/src/chart.tsx`, root)).toThrow(
        "npm install react@npm:@preact/compat react-dom@npm:@preact/compat",
      );
    },
  );

  test("names the copy of React that another package has brought", () => {
    const root = project({
      "node_modules/react": compat,
      "node_modules/widget": { version: "1.0.0" },
      "node_modules/widget/node_modules/react": { version: "18.3.1" },
    });
    expect(() => rejectReact("react", `${root}/${widget}`, root)).toThrow(
      /^node_modules\/widget\/index\.js imports react, which is React itself \(node_modules\/widget\/node_modules\/react, version 18\.3\.1\)\..*"overrides"/,
    );
  });

  test.each([
    ["@preact/compat under the name of React", "react", { "node_modules/react": compat }],
    ["a package that is not installed", "react", {}],
    ["a package whose name begins like React", "react-redux", { "node_modules/react-redux": { version: "9.0.0" } }],
    ["a package whose scope is like React", "@react/x", { "node_modules/@react/x": { version: "1.0.0" } }],
    ["a file", "./react", { "node_modules/react": { version: "19.0.0" } }],
  ])("accepts %s", (_what, source, packages) => {
    const root = project(packages);
    expect(() => rejectReact(source, `${root}/src/a.tsx`, root)).not.toThrow();
  });
});
