/** Thrown for a mistake on the command line. It is printed without a stack. */
export class UsageError extends Error {}

/** The names of errors whose message is complete: they are printed without a stack. */
const EXPECTED: ReadonlySet<string> = new Set([
  "ConfigError",
  "CompileError",
  "ProjectError",
  "BuildError",
  "ListenError",
]);

/** Prints the error of a command, and exits with status 1. */
export function exitWithError(error: unknown): void {
  const isExpected = error instanceof Error && (error instanceof UsageError || EXPECTED.has(error.name));
  console.error(isExpected ? error.message : error);
  exitAfterOutput(1);
}

/** Exits after all output was written, even when a loaded application keeps the process alive, for example by a database. */
export function exitAfterOutput(code: number): void {
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
}
