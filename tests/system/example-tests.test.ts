/**
 * The tests that an example contains, as they run in the templates of `tsweb new`. `npm run matrix -- new` runs those of all.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { copyExample, repository } from "#test/copy-example";
import { fasterHashing } from "#test/faster-hashing";

it.each([["accounts", 25]] as const)(
  "the tests of the example %s pass, with a database of their own",
  { timeout: 120_000 },
  async (name, numPassedTests) => {
    const packageFile = readFileSync(join(repository, "examples", name, "package.json"), "utf8");
    const { dependencies, devDependencies } = JSON.parse(packageFile);
    const example = copyExample(name, Object.keys({ ...dependencies, ...devDependencies }));
    try {
      const { NODE_ENV: _env, VITEST: _vitest, ...env } = process.env;
      const vitest = join(example.dir, "node_modules/vitest/vitest.mjs");
      const options = { cwd: example.dir, env: { ...env, ...fasterHashing(), TMPDIR: example.dir } };
      const { stdout } = await promisify(execFile)(process.execPath, [vitest, "run", "--reporter=json"], options);
      expect(JSON.parse(stdout.slice(stdout.indexOf("{")))).toMatchObject({ success: true, numPassedTests });
    } finally {
      example.remove();
    }
  },
);
