/** The board of docs/live.md, and its test in docs/tests-and-scripts.md. */
import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repository } from "#test/copy-example";
import { documentedFiles } from "#test/documented-files";
import { TestProject } from "#test/test-project";
import { filesInComments } from "../dist/readme.ts";

const DATABASE = `
  export interface Card { id: string; title: string; by: string }
  const boards = new Map<string, Card[]>();
  export const cards = async (board: string): Promise<Card[]> => boards.get(board) ?? [];
  export async function add(board: string, by: string, title: string): Promise<void> {
    boards.set(board, [...(boards.get(board) ?? []), { id: title, title, by }]);
  }
`;

const APP = `
  import { App } from "tsweb";
  import * as board from "./board.server.ts";
  import * as pages from "./pages.server.tsx";
  export default new App({ modules: [board, pages] });
`;

let project: TestProject;
beforeAll(() => {
  const live = filesInComments(readFileSync(join(repository, "docs/live.md"), "utf8"));
  const test = documentedFiles("docs/tests-and-scripts.md");
  const shown = ["board.server.ts", "pages.server.tsx", "board.tsx"].map((file) => [
    `src/${file}`,
    live.get(file) ?? "",
  ]);
  project = TestProject.fromFiles({
    ...Object.fromEntries(shown),
    "src/app.ts": APP,
    "src/db.server.ts": DATABASE,
    ...Object.fromEntries(["tests/show.server.ts", "tests/board.test.ts"].map((file) => [file, test[file] ?? ""])),
    "tsconfig.json": readFileSync(join(repository, "template/tsconfig.json"), "utf8"),
    "vitest.config.ts": readFileSync(join(repository, "template/vitest.config.ts"), "utf8"),
  });
  project.linkPackages(repository, ["preact", "vitest", "vite", "@types"]);
});
afterAll(() => project?.remove());

/** Runs the test of the project. @returns the numbers of tests that have passed and failed */
async function runTest(): Promise<readonly [passed: number, failed: number]> {
  const { NODE_ENV: _env, VITEST: _vitest, ...env } = process.env; // of the test runner
  const vitest = join(repository, "node_modules/vitest/vitest.mjs");
  const run = promisify(execFile)(process.execPath, [vitest, "run", "--reporter=json"], { cwd: project.dir, env });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  const { numPassedTests, numFailedTests } = JSON.parse(stdout.slice(stdout.indexOf("{")));
  return [numPassedTests, numFailedTests];
}

describe("the board of docs/live.md", () => {
  it("has valid types", () => {
    const compiler = join(repository, "node_modules/typescript/bin/tsc");
    execFileSync(process.execPath, [compiler, "--noEmit", "-p", project.file("tsconfig.json")], { encoding: "utf8" });
  });

  it("passes the test of docs/tests-and-scripts.md, and fails it without its publish or with another channel", async () => {
    expect(await runTest()).toEqual([1, 0]);
    const publish = /^ *await publish\(.*$/m.exec(project.read("src/board.server.ts"))?.[0] ?? "";
    for (const replacement of ["", publish.replace("board:", "boards:")]) {
      const restore = project.edit("src/board.server.ts", publish, replacement);
      expect(await runTest()).toEqual([0, 1]);
      restore();
    }
  });
});
