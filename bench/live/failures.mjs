// A failed measurement is reported, and the others go on: a complete run takes half an hour.

/**
 * Prints the error of a measurement, and makes the command exit with status 1 at its end.
 *
 * @returns the first line of the message, for the table
 */
export function reportFailure(name, error) {
  process.exitCode = 1;
  process.stderr.write(`${name} failed: ${error.stack ?? error}\n`);
  const [line] = String(error.message ?? error).split("\n", 1);
  return line.replaceAll("|", "\\|");
}
