/** The application of docs/api-keys.md: its types, and its test. */
import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { documentedFiles } from "#test/documented-files";
import { runTsweb } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

const COMPILER = join(repository, "node_modules/typescript/bin/tsc");

let project: TestProject;
beforeAll(() => {
  project = TestProject.fromFiles({
    ...documentedFiles("docs/api-keys.md"),
    "tsconfig.json": readFileSync(join(repository, "template/tsconfig.json"), "utf8"),
    "vitest.config.ts": readFileSync(join(repository, "template/vitest.config.ts"), "utf8"),
  });
  project.linkPackages(repository, ["@libsql", "preact", "vitest", "vite", "@types"]);
});
afterAll(() => project?.remove());

describe("the application of docs/api-keys.md", () => {
  it("has valid types", () => {
    execFileSync(process.execPath, [COMPILER, "--noEmit", "-p", project.file("tsconfig.json")], { encoding: "utf8" });
  });

  it("passes its own test", async () => {
    const { NODE_ENV: _env, VITEST: _vitest, ...env } = process.env; // of the test runner
    const vitest = join(repository, "node_modules/vitest/vitest.mjs");
    const run = promisify(execFile)(process.execPath, [vitest, "run", "--reporter=json"], { cwd: project.dir, env });
    const { stdout } = await run.catch((error: { stdout: string }) => error);
    const { numPassedTests, numFailedTests, testResults } = JSON.parse(stdout.slice(stdout.indexOf("{")));
    expect(testResults.map(({ message }: { message: string }) => message)).toEqual([""]);
    expect({ numPassedTests, numFailedTests }).toEqual({ numPassedTests: 2, numFailedTests: 0 });
  });

  it("has an OpenAPI document with the bearer scheme", async () => {
    const { output } = await runTsweb(project.dir, ["openapi"], { DATABASE_URL: ":memory:" });
    const { paths, components } = JSON.parse(output);
    expect(paths["/__web/rpc/order"].post.security).toEqual([{ session: [] }, { bearer: [] }]);
    expect(components.securitySchemes.bearer).toMatchObject({ type: "http", scheme: "bearer" });
    expect(components.securitySchemes.session.name).toMatch(/^web_session/);
  });
});
