/**
 * The arguments of a query in its token: JSON by the names of the parameters, with sorted keys, so that equal arguments have one
 * text, and pages with it share a run.
 */
import { RPCError } from "../../errors.ts";
import type { Signature } from "../../protocol/index.ts";
import { bindArguments } from "../../rpc/index.ts";

/** The maximum depth to which an argument may nest, in levels. */
const MAX_DEPTH = 64;

/**
 * Returns the arguments of `live` as the text of a token.
 *
 * Each must be the same after JSON, because runs receive what the token contains: a `Date` would become a string.
 *
 * @throws TypeError for too many arguments, for one that is missing or of another type than its parameter declares, and for one
 *   that JSON does not represent exactly
 */
export function argumentsText(signature: Signature, args: readonly unknown[]): string {
  const { name, params, keyed } = signature;
  const caller = `${name}.live`;
  const maximum = keyed ? 1 : params.length;
  if (args.length > maximum) {
    throw new TypeError(`${caller}: ${args.length} arguments were passed; ${name} takes at most ${maximum}.`);
  }
  if (keyed && typeof (args[0] ?? {}) !== "object") {
    throw new TypeError(`${caller}: the argument is of type ${typeof args[0]}, and ${name} takes an object.`);
  }
  const text = sortedJson(byName(signature, args), { caller, path: "", depth: 0 });
  try {
    // Bound once more, so that arguments that mean the same, such as "5" and 5 for an int, have one text.
    return sortedJson(byName(signature, parseArguments(signature, text)), { caller, path: "", depth: 0 });
  } catch (error) {
    if (error instanceof RPCError) throw new TypeError(`${caller}: ${error.message}`);
    throw error;
  }
}

/**
 * Returns the arguments of a query from the text of its token: its parameters' values in order, or one object for a keyed function.
 *
 * @throws RPCError `validation_error` for a text that does not match the signature
 */
export function parseArguments(signature: Signature, text: string): readonly unknown[] {
  return bindArguments(signature, JSON.parse(text)); // its members are objects, since `argumentsText` has made it
}

/** Returns arguments by the names of their parameters. */
function byName({ params, keyed }: Signature, args: readonly unknown[]): unknown {
  if (keyed) return args[0] ?? {};
  const named: Record<string, unknown> = Object.create(null);
  for (const [at, arg] of args.entries()) named[params[at]?.name ?? ""] = arg;
  return named;
}

/** Where a value is, for the message of an error. */
interface ValuePlace {
  readonly caller: string;
  readonly path: string;
  readonly depth: number;
}

/**
 * Returns a value as JSON whose keys are sorted by their UTF-16 code units. Members that are `undefined` are left out.
 *
 * @throws TypeError for a value that is not the same after JSON
 */
function sortedJson(value: unknown, place: ValuePlace): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number" && Number.isFinite(value)) return JSON.stringify(value);
  if (typeof value !== "object") throw unsuitableError(value, place);
  if (place.depth > MAX_DEPTH)
    throw new TypeError(`${place.caller}: ${place.path} nests deeper than ${MAX_DEPTH} levels.`);
  const depth = place.depth + 1;
  if (Array.isArray(value)) {
    const items = Array.from(value, (item, at) => sortedJson(item, { ...place, depth, path: `${place.path}[${at}]` }));
    return `[${items.join(",")}]`;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw unsuitableError(value, place);
  const fields = value as Readonly<Record<string, unknown>>; // a plain object
  const names = Object.keys(fields).filter((name) => fields[name] !== undefined);
  const members = names.sort().map((name) => {
    const path = place.path === "" ? name : `${place.path}.${name}`;
    if (name === "__proto__") throw new TypeError(`${place.caller}: a key named __proto__ is not allowed.`);
    return `${JSON.stringify(name)}:${sortedJson(fields[name], { ...place, depth, path })}`;
  });
  return `{${members.join(",")}}`;
}

function unsuitableError(value: unknown, { caller, path }: ValuePlace): TypeError {
  const type = typeof value === "object" ? (value?.constructor?.name ?? "object") : String(typeof value);
  const received = typeof value === "number" || value === undefined ? String(value) : `of type ${type}`;
  return new TypeError(
    `${caller}: ${path} is ${received}, and arguments of a query must be plain JSON: texts, finite numbers, true, false, null, and ` +
      "lists and objects of them. Pass an id, and load the rest in the query.",
  );
}
