/** Packages that cannot be bundled for the browser, in development: only the pages that use them fail. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

/** The modules of a package for the browser, `index.js` first. The server loads a correct one. */
const PACKAGES: Record<string, Record<string, string>> = {
  correct: { "index.js": 'export default "correct";\n' },
  "entry-unparsed": { "index.js": "export default { broken: function( {\n" },
  "part-unparsed": { "index.js": 'export { default } from "./part.js";\n', "part.js": "export default {{;\n" },
  "part-missing": { "index.js": 'export { default } from "./part.js";\n' },
  "export-missing": {
    "index.js": 'export { other as default } from "./part.js";\n',
    "part.js": "export const a = 1;\n",
  },
};

const names = Object.keys(PACKAGES);

function files(): Record<string, string> {
  const all: Record<string, string> = {
    "src/app.ts":
      'import { App } from "tsweb";\nimport * as pages from "./pages.server.tsx";\nexport default new App({ modules: [pages] });\n',
    "src/pages.server.tsx": `import { page } from "tsweb";\n${names
      .map(
        (name, at) =>
          `import { View${at} } from "./${name}.tsx";\nexport const p${at} = page("/${name}", () => <View${at} />);\n`,
      )
      .join("")}`,
  };
  for (const [at, name] of names.entries()) {
    all[`src/${name}.tsx`] =
      `import { view } from "tsweb/browser";\nimport value from "${name}";\nexport const View${at} = view(() => <p>{String(value)}</p>);\n`;
    const folder = `node_modules/${name}`;
    const entries = { browser: "./index.js", default: "./server.js" };
    all[`${folder}/package.json`] = JSON.stringify({ name, version: "1.0.0", type: "module", exports: entries });
    all[`${folder}/server.js`] = 'export default "server";\n';
    for (const [file, code] of Object.entries(PACKAGES[name] ?? {})) all[`${folder}/${file}`] = code;
  }
  return all;
}

let project: TestProject;
let dev: RunningServer;

beforeAll(async () => {
  project = TestProject.fromFiles(files());
  dev = await startDev(project.dir);
});

afterAll(async () => {
  await dev?.stop();
  project?.remove();
});

/** Returns a script of the development server. */
async function script(path: string): Promise<string> {
  const response = await fetch(new URL(path, dev.address), { headers: { "sec-fetch-dest": "script" } });
  expect([path, response.status]).toEqual([path, 200]);
  return response.text();
}

/** Returns the bundles of packages that a view imports. */
async function bundlesOf(name: string): Promise<string> {
  expect((await fetch(new URL(`/${name}`, dev.address))).status).toBe(200);
  const code = await script(`/__web/dev/src/${name}.tsx`);
  const paths = [...code.matchAll(/"([^"]*\/node_modules\/\.vite\/deps\/[^"]+)"/g)].map(([, path]) => path ?? "");
  expect(paths.some((path) => path.includes("tsweb_browser"))).toBe(true);
  return (await Promise.all(paths.map(script))).join("\n");
}

it("serves the scripts of pages that use no broken package", async () => {
  expect(await bundlesOf("correct")).toContain('"correct"');
});

it("serves a module that throws in place of a module with a syntax error", async () => {
  expect(await bundlesOf("part-unparsed")).toMatch(
    /throw new SyntaxError\("node_modules\/part-unparsed\/part\.js cannot be parsed: .+\. Report it to the package, or remove its import\."\)/,
  );
});

it("serves a module that throws in place of a module that does not exist", async () => {
  expect(await bundlesOf("part-missing")).toContain(
    "node_modules/part-missing/index.js imports ./part.js, which does not exist.",
  );
});

it("serves a package of which an export is missing", async () => {
  expect(await bundlesOf("export-missing")).toMatch(/var \S+ = void 0/);
});

it("serves the other packages of a view that imports a package with a syntax error in its first module", async () => {
  const response = await fetch(new URL("/entry-unparsed", dev.address));
  expect(response.status).toBe(200);
  const view = await script("/__web/dev/src/entry-unparsed.tsx");
  expect(view).toContain("/node_modules/entry-unparsed/index.js");
});
