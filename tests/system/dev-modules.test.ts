/**
 * How the development server loads the modules of an application.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

/** Prints the folder of compiled code, which Node 20 cannot store, and the registrations of hooks, which make Node load all packages in another thread. */
const REPORT_HOOKS = `
  import Module from "node:module";
  Module.enableCompileCache = (folder) => console.log("compiled code: " + folder);
  for (const name of ["register", "registerHooks"]) {
    const { [name]: register } = Module;
    if (register) Module[name] = (...input) => { console.log("hooks registered"); return register.apply(Module, input); };
  }`;

/** A route whose response has the texts of two modules, one of them imported through another. Each prints that it runs. */
const CHAIN = {
  "src/edited.ts": 'console.log("edited runs");\nexport const EDITED = "old";\n',
  "src/between.ts":
    'import { EDITED } from "./edited.ts";\nconsole.log("between runs");\nexport const BETWEEN = EDITED;\n',
  "src/kept.ts": 'console.log("kept runs");\nexport const kept = { count: 0 };\n',
  "src/chain.server.ts": `import { route } from "tsweb";
import { BETWEEN } from "./between.ts";
import { kept } from "./kept.ts";
console.log("chain runs");
export const chain = route("GET /chain", () => new Response(\`\${BETWEEN} \${++kept.count}\`));
`,
};

/** A Vite config with a plugin that loads the application again, for another reason than an edit. */
const RELOAD_ON_REQUEST = `
export default {
  plugins: [{
    name: "reload-on-request",
    configureServer({ watcher, environments }) {
      watcher.on("all", (_event, file) => file.endsWith("reload.txt") && environments.ssr.hot.send({ type: "full-reload" }));
    },
  }],
};
`;

let project: TestProject;
let dev: RunningServer;

beforeAll(async () => {
  project = TestProject.copy();
  project.write(
    "src/resolve.server.ts",
    `import { route } from "tsweb";
export const resolved = route("GET /resolved", () =>
  Response.json({ file: import.meta.resolve("./words.ts"), builtin: import.meta.resolve("node:fs"), main: import.meta.main }));
`,
  );
  for (const [file, text] of Object.entries(CHAIN)) project.write(file, text);
  project.write("vite.config.ts", RELOAD_ON_REQUEST);
  const app = project.read("src/app.ts");
  project.write(
    "src/app.ts",
    `import * as resolve from "./resolve.server.ts";\nimport * as chain from "./chain.server.ts";\n${app.replace("modules: [", "modules: [resolve, chain, ")}`,
  );
  dev = await startDev(project.dir, {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(REPORT_HOOKS)}`,
  });
});

afterAll(async () => {
  const code = await dev?.stop();
  project?.remove();
  expect(code).toBe(0);
});

describe("the development server", () => {
  it("registers no hooks of Node when it loads an application, and prints nothing about it", async () => {
    expect((await fetch(`${dev.address}/plain`)).status).toBe(200);
    expect(dev.output()).not.toContain("hooks registered");
    expect(dev.output()).not.toContain("(ssr)");
  });

  it("stores the code that Node compiles beside its own", () => {
    expect(dev.output()).toContain(`compiled code: ${join(repository, "dist/.compile-cache/")}\n`);
  });

  it("resolves specifiers for import.meta.resolve() relative to the module that calls it", async () => {
    const response = await fetch(`${dev.address}/resolved`);
    const file = new URL("src/words.ts", `file://${project.dir}/`).href;
    expect(await response.json()).toEqual({ file, builtin: "node:fs", main: false });
  });

  it("runs an edited module again without a request, and those that import it, and keeps the state of the others", async () => {
    const responses = () => fetch(`${dev.address}/chain`).then((response) => response.text());
    expect(await responses()).toBe("old 1");
    const before = runs();
    project.edit("src/edited.ts", '"old"', '"new"');
    await expect.poll(runs).toEqual({ ...before, edited: 2, between: 2, chain: 2 });
    expect(await responses()).toBe("new 2");
    expect(runs()).toEqual({ edited: 2, between: 2, chain: 2, kept: 1 });
  });

  it("responds to a request right after an edit with the edited module, and runs it once", async () => {
    const before = runs();
    project.edit("src/edited.ts", '"new"', '"newer"');
    await expect
      .poll(() => fetch(`${dev.address}/chain`).then((response) => response.text()), { interval: 1 })
      .toMatch(/^newer /);
    const reloads = () => dev.output().split("program reload").length - 1;
    await expect.poll(reloads).toBe(2);
    expect(runs()).toEqual({ ...before, edited: 3, between: 3, chain: 3 });
  });

  it("runs all modules again when a plugin of Vite loads the application again", async () => {
    const before = runs();
    project.write("src/reload.txt", "");
    await expect.poll(runs).toEqual({
      edited: before.edited + 1,
      between: before.between + 1,
      chain: before.chain + 1,
      kept: before.kept + 1,
    });
  });

  it("runs the modules again for a request that waits for a run after an edit, if that fails", async () => {
    const cause = `${project.dir}-cause`; // outside of the project, so that nothing notices it
    writeFileSync(cause, "");
    const { edited } = runs();
    project.write(
      "src/edited.ts",
      `import { existsSync } from "node:fs";
       console.log("edited runs");
       const hasCause = existsSync(${JSON.stringify(cause)});
       while (existsSync(${JSON.stringify(cause)})) await new Promise((resolve) => setTimeout(resolve, 5));
       if (hasCause) throw new Error("unavailable");
       export const EDITED = "available";`,
    );
    await expect.poll(() => runs().edited).toBe(edited + 1);
    const response = fetch(`${dev.address}/chain`).then((chain) => chain.text());
    await wait(500); // the request waits, like the run
    expect(runs().edited).toBe(edited + 1);
    rmSync(cause);
    expect(await response).toMatch(/^available /);
  });
});

/** Returns how often each module of the route has run. */
function runs() {
  const count = (name: string) => dev.output().split(`${name} runs`).length - 1;
  return { edited: count("edited"), between: count("between"), chain: count("chain"), kept: count("kept") };
}
