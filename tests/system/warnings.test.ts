/** The warnings of `tsweb build` and `tsweb dev` about what has no effect, each of which is printed once. */
import { readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runTsweb, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

const NOTE = 'public/index.html is served at /index.html, and is not the page "/". Write its markup as';

/** About a variable with the prefix of the Vite config. */
const UNSET =
  "`import.meta.env.PUBLIC_MISSING` at src/pages.server.tsx:3 is undefined, because the variable is not set. Set it in the " +
  "environment of tsweb dev and tsweb build, or test it before its use.";

let project: TestProject;

beforeAll(() => {
  project = TestProject.fromFiles({
    "vite.config.ts": 'export default { envPrefix: "PUBLIC_" };\n',
    "src/app.tsx":
      'import "./style.css";\nimport { App } from "tsweb";\nimport * as pages from "./pages.server.tsx";\n' +
      "export default new App({ modules: [pages] });\n",
    "src/pages.server.tsx":
      'import { page, route as serve } from "tsweb";\nimport "./shop.css";\n' +
      'export const home = page("/", () => <p>Home {import.meta.env.PUBLIC_MISSING}</p>);\n' +
      'export const image = serve("GET /images/:name", () => new Response("x"));\n',
    "src/style.css":
      "p { color: red }\nbody { background: url(/missing.png) }\nh1 { background: url(/images/a.png) }\n",
    "src/shop.css": 'h2 { background: url("/logo.png") url(/missing.png) }\n',
    "src/unused.server.ts": "await Promise.resolve();\n",
    "public/logo.png": "x",
    "public/index.html": "<h1>Shop</h1>",
  });
});
afterAll(() => project.remove());

/** Builds the project. Returns the output, which has the warnings of its files once. */
async function build(): Promise<string> {
  const { code, output } = await runTsweb(project.dir, ["build"]);
  expect(code, output).toBe(0);
  for (const warning of [NOTE, UNSET]) expect(output.split(warning)).toHaveLength(2);
  for (const location of ["src/style.css:2", "src/shop.css:1"])
    expect(output.split(`${location} refers to /missing.png, and there is no such file.`)).toHaveLength(2);
  expect(output).not.toMatch(/didn't resolve|\/images\/a\.png|logo\.png/);
  return output;
}

it("a build names public/index.html, each line of a style sheet with the URL of a missing file and a variable that is not set, and nothing else", async () => {
  await build();
});

it("a build writes the server as several files, although a server module that is not imported awaits", () => {
  expect(serverFiles().length).toBeGreaterThan(1);
});

/** Returns the files of the built server that have source maps: those that are bundled. */
function serverFiles(): string[] {
  return readdirSync(project.file("dist")).filter((name) => name.endsWith(".mjs.map"));
}

it("the development server names public/index.html at its start, and a variable that is not set", async () => {
  const server = await startDev(project.dir);
  const page = await fetch(server.address);
  expect(await page.text()).toContain("Home");
  expect(await server.stop()).toBe(0);
  for (const warning of [NOTE, UNSET]) expect(server.output().split(warning)).toHaveLength(2);
});

// The last test: it edits the project.
it("a build that writes the server as one file prints each warning once", async () => {
  project.edit("src/app.tsx", "modules: [pages]", "layout, modules: [pages]");
  project.edit("src/app.tsx", "export default", "const layout = () => <p>Shop</p>;\nexport default");
  project.write(
    "src/pages.server.tsx",
    `${project.read("src/pages.server.tsx")}export { loaded } from "./loaded.ts";\n`,
  );
  project.write("src/loaded.ts", 'export const loaded = await import("./later.ts");\n');
  project.write("src/later.ts", "export const later = 1;\n");
  project.write("src/unused.server.ts", "");
  project.edit("vite.config.ts", "{", "{ server: { port: 4000 }, build: { outDir: 'out' },");
  const output = await build();
  expect(output.split("has no parameter `children`")).toHaveLength(2);
  expect(output.split("build.outDir has no effect in tsweb.")).toHaveLength(2);
  expect(serverFiles()).toEqual(["app.mjs.map"]);
});
