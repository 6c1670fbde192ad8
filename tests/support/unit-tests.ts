/** Unit tests on another Node than that of this process. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repository } from "./copy-example.ts";

/** The results of unit tests. */
export interface UnitResults {
  readonly passed: number;
  readonly failures: readonly { readonly title: string; readonly message: string }[];
}

/** A report of Vitest, as far as it is read here. */
interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/**
 * Runs unit tests with Vitest.
 *
 * @param program the path of a Node
 * @param paths files or folders, relative to the repository
 * @throws Error with the output of Vitest if it has written no report
 */
export async function runUnitTests(program: string, paths: readonly string[]): Promise<UnitResults> {
  const dir = mkdtempSync(join(tmpdir(), "tsweb-unit-"));
  const file = join(dir, "report.json");
  const vitest = join(repository, "node_modules", "vitest", "vitest.mjs");
  // Without the ordinary ways of the adapter: those rely on no members of Node that other versions may lack.
  // One process loads Vitest and the modules once.
  const options = ["--project=unit-in-one-process", "--maxWorkers=1"];
  const args = [vitest, "run", ...options, ...paths, "--reporter=json", `--outputFile=${file}`];
  // Variables of the Vitest that runs this test would change what the other one does.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^VITEST|^NODE_ENV$|^TEST$/.test(name)),
  );
  try {
    const output = await new Promise<string>((resolve) => {
      execFile(program, args, { cwd: repository, env }, (_error, stdout, stderr) => resolve(stdout + stderr));
    });
    return resultsOf(readReport(file, output));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function readReport(file: string, output: string): Report {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new Error(`Vitest has written no report:\n${output}`, { cause });
  }
}

function resultsOf({ numPassedTests, testResults }: Report): UnitResults {
  const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((each) => each.status !== "passed");
    if (failed.length === 0 && status !== "passed") return [{ title: name, message }]; // a file that could not be loaded
    return failed.map(({ fullName, failureMessages }) => ({ title: fullName, message: failureMessages.join("\n") }));
  });
  return { passed: numPassedTests, failures };
}
