/**
 * The tests that the board example contains, as its README describes them.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { copyExample, type ExampleCopy, repository } from "#test/copy-example";

let board: ExampleCopy;
beforeAll(() => {
  const packageFile = readFileSync(join(repository, "examples/board/package.json"), "utf8");
  const { dependencies, devDependencies } = JSON.parse(packageFile);
  board = copyExample("board", Object.keys({ ...dependencies, ...devDependencies }));
});
afterAll(() => board?.remove());

it("the tests of the board example pass, with a database that its migrations create", { timeout: 60_000 }, async () => {
  const { NODE_ENV: _env, VITEST: _vitest, ...env } = process.env;
  const vitest = join(board.dir, "node_modules/vitest/vitest.mjs");
  const options = { cwd: board.dir, env: { ...env, TMPDIR: board.dir } };
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, "run", "--reporter=json"], options);
  expect(JSON.parse(stdout.slice(stdout.indexOf("{")))).toMatchObject({ success: true, numPassedTests: 2 });
});
