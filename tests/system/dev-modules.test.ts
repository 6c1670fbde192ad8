/**
 * How the development server loads the modules of an application.
 */
import { join } from "node:path";
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
  const app = project.read("src/app.ts");
  project.write(
    "src/app.ts",
    `import * as resolve from "./resolve.server.ts";\n${app.replace("modules: [", "modules: [resolve, ")}`,
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
});
