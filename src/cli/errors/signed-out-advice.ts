const ADVICE =
  "Nobody is signed in, so session.user() returned null. Write `session.require()` in its place: it returns the user, " +
  "and responds with 401 to others.";

/** A read of a property of null: "Cannot read properties of null (reading 'sub')", or the same in a pattern. */
const NULL_READ = /^Cannot (?:read properties of null|destructure property .* as it is null)/;

/**
 * Returns what to write in place of `session.user()` if an error of the server is a read of a property of its result, and
 * nobody is signed in. Otherwise an empty string.
 *
 * @param lines the lines of the module, up to that of the error
 */
export function signedOutAdvice(error: unknown, lines: readonly string[]): string {
  if (!(error instanceof TypeError) || !NULL_READ.test(error.message)) return "";
  const line = lines.at(-1) ?? "";
  const property = /\(reading '(?<name>[^']+)'\)/.exec(error.message)?.groups?.name ?? "";
  if (property === "") return /\}\s*=\s*session\.user\(\)/.test(line) ? ADVICE : "";
  const read = new RegExp(
    `(?<object>[\\w$]+|\\bsession\\.user\\(\\))!?(?:\\s+as\\s[^()]*)?\\)?\\.${escaped(property)}\\b`,
  );
  const object = read.exec(line)?.groups?.object;
  if (object === undefined) return "";
  if (object === "session.user()") return ADVICE;
  const declaration = new RegExp(`\\b(?:const|let|var)\\s+${escaped(object)}\\b.*=\\s*(?<value>.*)`);
  const value = lines.findLast((each) => declaration.test(each));
  return /=\s*\(?session\.user\(\)!?(?:\s+as\s[^()=]*)?\)?\s*;?\s*$/.test(value ?? "") ? ADVICE : "";
}

function escaped(name: string): string {
  return name.replace(/[^\w]/g, "\\$&");
}
