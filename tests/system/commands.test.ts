/**
 * The commands exit after their work, even if the application or its Vite config keeps the process alive.
 */
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { runTsweb } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

const PING = 'import { server } from "tsweb";\nexport const ping = server(() => "pong");\n';
const APP =
  'import { App } from "tsweb";\nimport * as ping from "./ping.server.ts";\nexport default new App({ modules: [ping] });\n';

const ON_START = 'on_start: () => console.log("on_start runs"),';

/** Keeps the process alive, as a database connection does. */
const KEEP_ALIVE = "setInterval(() => undefined, 1_000);\n";

let site: TestProject | undefined;
afterEach(() => {
  site?.remove();
  site = undefined;
});

const createProject = (app: string, extraFiles: Readonly<Record<string, string>> = {}) => {
  site = TestProject.fromFiles({ "src/app.ts": app, "src/ping.server.ts": PING, ...extraFiles });
  return site;
};

describe("the process exits", () => {
  it.each(["routes", "openapi"])(
    "after tsweb %s has printed its result; it has not run on_start, and leaves the packages that a running tsweb dev has bundled",
    async (command) => {
      const bundled = "node_modules/.vite/deps/_metadata.json";
      const metadata = JSON.stringify({
        hash: "a",
        lockfileHash: "b",
        configHash: "c",
        browserHash: "d",
        optimized: {},
      });
      const project = createProject(KEEP_ALIVE + APP.replace("App({", `App({ ${ON_START}`), { [bundled]: metadata });
      const { code, output } = await runTsweb(project.dir, [command]);
      expect(output).toContain("ping");
      expect(output).not.toContain("on_start runs");
      expect(code).toBe(0);
      expect(readFileSync(project.file(bundled), "utf8")).toBe(metadata);
    },
  );

  it.each(["routes", "openapi"])("after tsweb %s could not load the application", async (command) => {
    const { code, output } = await runTsweb(createProject(`${KEEP_ALIVE}throw new Error("no such table");\n`).dir, [
      command,
    ]);
    expect(output).toContain("no such table");
    expect(code).toBe(1);
  });

  // For a build that succeeds, and tsweb serve, see tests/system/build.test.ts.
  it("after tsweb build has reported that src/app.ts exports no application", async () => {
    const config = { "vite.config.ts": `${KEEP_ALIVE}export default {};\n` };
    const { code, output } = await runTsweb(createProject("export const app = 1;\n", config).dir, ["build"]);
    expect(code).toBe(1);
    expect(output).toContain("src/app.ts must export the application as its default");
    expect(output).toContain("export default new App({…})");
    expect(output).not.toMatch(/\n {4}at /);
  });
});
