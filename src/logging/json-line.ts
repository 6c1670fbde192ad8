// `tsweb build` copies this file beside the built application, so it imports nothing.

/** Several processes may write to one log. */
const PID = process.pid;

/** The maximum depth of a value that `JSON.stringify` refuses. */
const MAX_DEPTH = 5;

/** The maximum number of values that are copied of one that `JSON.stringify` refuses: it may refer to half of the process. */
const MAX_VALUES = 1000;

/** What stands for a value that cannot be written. */
const CIRCULAR = "[Circular]";
const LEFT_OUT = "[…]";
const UNREADABLE = "[Unreadable]";

/**
 * Returns a log line: JSON with `level`, `time`, `pid`, the fields and `msg`, and a line break. Never throws because of a field:
 * a reference to a parent, a `bigint` or a getter that throws becomes text.
 */
export function jsonLine(level: string, fields: object, message: string): string {
  return `${stringify({ level, time: new Date().toISOString(), pid: PID, ...fields, msg: message })}\n`;
}

function stringify(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    return JSON.stringify(toPlain(value, { parents: [], budget: { values: MAX_VALUES } }));
  }
}

/** Where {@link toPlain} is. */
interface Position {
  readonly parents: readonly object[];
  /** How many more values are copied. */
  readonly budget: { values: number };
}

/** Returns a copy of a value that `JSON.stringify` accepts. */
function toPlain(value: unknown, { parents, budget }: Position): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (parents.includes(value)) return CIRCULAR;
  if (parents.length > MAX_DEPTH || budget.values <= 0) return LEFT_OUT;
  budget.values--;
  const below = { parents: [...parents, value], budget };
  try {
    if ("toJSON" in value && typeof value.toJSON === "function") return toPlain(value.toJSON(), below);
    if (Array.isArray(value)) return value.map((element) => toPlain(element, below));
    return Object.fromEntries(Object.keys(value).map((name) => [name, toPlain(Reflect.get(value, name), below)]));
  } catch {
    return UNREADABLE;
  }
}
