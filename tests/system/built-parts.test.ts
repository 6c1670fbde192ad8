/**
 * The files of a built server: which of them a start loads, in which order modules run, and what stacks name.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import { build, type RunningServer, startNode } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

const env = { WEB_AUTH_SECRET: randomBytes(32).toString("hex") };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** `shared` is loaded by the application and by the part that is loaded later. */
const FILES = {
  "src/first.ts": 'console.log("RUN first");\n',
  "src/shared.ts": 'console.log("RUN shared");\nexport const state = { count: 0 };\n',
  "src/later.ts":
    'import { state } from "./shared.ts";\nconsole.log("RUN later");\nexport const next = () => ++state.count;\n',
  "src/pages.server.ts": `import { route } from "tsweb";
import { state } from "./shared.ts";
export const count = route("GET /count", async () => {
  const { next } = await import("./later.ts");
  next();
  return Response.json(state);
});
export const fail = route("GET /fail", () => {
  throw new Error("The warehouse is unreachable");
});
`,
  "src/app.ts": `import "./first.ts";
import { App } from "tsweb";
import * as pages from "./pages.server.ts";
export default new App({ modules: [pages] });
`,
};

async function createBuild(files: Readonly<Record<string, string>>): Promise<TestProject> {
  const project = TestProject.fromFiles(files);
  cleanups.push(() => project.remove());
  await build(project.dir);
  return project;
}

async function start(project: TestProject): Promise<RunningServer> {
  const server = await startNode(project.dir, ["dist/server.mjs"], env);
  cleanups.push(() => server.stop());
  return server;
}

const runsIn = (output: string) => [...output.matchAll(/^RUN (\w+)$/gm)].map(([, name]) => name);

it("loads the parts of a built server when they are first used, and names the source files in stacks", async () => {
  const project = await createBuild(FILES);
  const names = readdirSync(project.file("dist")).filter((name) => name.endsWith(".mjs"));
  const textOf = (name: string) => readFileSync(project.file(`dist/${name}`), "utf8");
  const part = (text: RegExp) => names.filter((name) => text.test(textOf(name)));
  const clients = [/class Redis extends|function Redis\(/, /JetStreamManager/, /collectDefaultMetrics/].map(part);
  for (const files of clients) expect(files.filter((name) => /-[\w-]{8}\.mjs$/.test(name)).length).toBeGreaterThan(0);
  // Without what nothing uses, the server starts and responds.
  const unused = names.filter((name) => /-[\w-]{8}\.mjs$/.test(name) && !/RUN|rolldown/.test(textOf(name)));
  expect(unused.length).toBeGreaterThan(2);
  for (const name of unused) rmSync(project.file(`dist/${name}`));

  const server = await start(project);
  expect(runsIn(server.output())).toEqual(["first", "shared"]);
  expect(await (await fetch(`${server.address}/count`)).json()).toEqual({ count: 1 });
  expect(await (await fetch(`${server.address}/count`)).json()).toEqual({ count: 2 });
  expect(runsIn(server.output())).toEqual(["first", "shared", "later"]);
  await (await fetch(`${server.address}/fail`)).text();
  expect(server.output()).toMatch(
    /"stack":"Error: The warehouse is unreachable\\n {4}at [^"]*src\/pages\.server\.ts:9:9\)/,
  );
});

it("runs modules in the order of their imports also if one of them awaits something, and if it is a part", async () => {
  const project = await createBuild({
    ...FILES,
    "src/first.ts": 'console.log("RUN first");\nawait null;\nexport const { next } = await import("./later.ts");\n',
    "src/app.ts": `${FILES["src/app.ts"]}import { next } from "./first.ts";\nnext();\n`,
  });
  const server = await start(project);
  expect(runsIn(server.output())).toEqual(["first", "shared", "later"]);
  expect(await (await fetch(`${server.address}/count`)).json()).toEqual({ count: 2 });
});
