import { RPCError, ValueError } from "../errors.ts";
import { Redirect } from "../http/index.ts";
import type { Parameter, Signature } from "../protocol/index.ts";

/** The result of a schema: the output value, or the issues. */
type Outcome = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  /** The path inside the value: keys and indexes, each plain or as `{ key }`. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * A schema of any library that implements Standard Schema (Zod, Valibot, ArkType and others).
 *
 * @see https://standardschema.dev
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly validate: (value: unknown) => Outcome | Promise<Outcome>;
    /** The types of the schema, which exist at compile time only. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Returns the schema as JSON Schema. Libraries that implement Standard JSON Schema have it. */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Readonly<Record<string, unknown>>;
      readonly output: (options: { readonly target: "draft-2020-12" }) => Readonly<Record<string, unknown>>;
    };
  };
}

/** Schemas by the name of the parameter. */
export type ParameterSchemas = Readonly<Record<string, StandardSchema>>;

/**
 * Checks the option `validate`.
 *
 * @param location the call that has the option, for the error message
 * @throws TypeError for a value that is not a Standard Schema, and for a name that is not a parameter
 */
export function checkSchemas(
  schemas: unknown,
  { params }: Signature,
  location: string,
): asserts schemas is ParameterSchemas | undefined {
  if (schemas === undefined) return;
  if (typeof schemas !== "object" || schemas === null) {
    throw new TypeError(`${location}: validate must be an object of schemas by parameter, like { email: z.email() }.`);
  }
  for (const [name, schema] of Object.entries(schemas)) {
    if (!params.some((parameter) => parameter.name === name)) {
      const valid = params.map((parameter) => parameter.name).join(", ") || "none";
      throw new TypeError(`${location}: validate has the unknown parameter ${name}. Valid parameters: ${valid}.`);
    }
    checkSchema(schema, `${location}: validate.${name}`);
  }
}

/**
 * Checks that a value is a Standard Schema.
 *
 * @param location the option, for the error message
 * @throws TypeError for any other value
 */
export function checkSchema(schema: unknown, location: string): asserts schema is StandardSchema {
  const { validate } = (schema as Partial<StandardSchema> | null | undefined)?.["~standard"] ?? {}; // unknown until checked
  if (typeof validate === "function") return;
  throw new TypeError(`${location} is not a Standard Schema. Use a schema of Zod, Valibot or ArkType.`);
}

/** A value that a schema rejects. */
export interface RejectedValue {
  /** The name of the parameter. */
  readonly name: string;
  /** At least one. */
  readonly issues: readonly Issue[];
  readonly value: unknown;
}

/**
 * Validates coerced arguments with the schemas of their function and returns the schemas' outputs.
 *
 * A schema may supply a value for an omitted parameter. If it rejects `undefined` and the parameter is optional, the
 * function's own default applies.
 *
 * @param args the arguments of the function: in order, or one object for a keyed function
 * @param reject called for each rejected value. By default, the first one is thrown.
 * @throws RPCError `validation_error`, whose message and `details` name the parameter and the path inside it
 * @see docs/protocol.md 4.5
 */
export async function validateArguments(
  { params, keyed }: Signature,
  { schemas, args, reject = throwRejected }: ArgumentsToValidate,
): Promise<unknown[]> {
  const values = [...args];
  // Without a prototype, as bindArguments returns it: an omitted parameter named `constructor` must not be inherited.
  const fields: Record<string, unknown> = Object.assign(Object.create(null), keyed ? args[0] : {});
  for (const [index, parameter] of params.entries()) {
    const { name } = parameter;
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (!schema) continue;
    const value = await validateOne(parameter, schema, { value: keyed ? fields[name] : values[index], reject });
    if (!keyed) values[index] = value;
    else if (value !== undefined) fields[name] = value;
    else delete fields[name];
  }
  return keyed ? [fields] : values;
}

/** The input of {@link validateArguments}. */
export interface ArgumentsToValidate {
  readonly schemas: ParameterSchemas;
  readonly args: readonly unknown[];
  readonly reject?: (rejected: RejectedValue) => void;
}

async function validateOne(
  { name, optional }: Parameter,
  schema: StandardSchema,
  { value, reject }: { readonly value: unknown; readonly reject: (rejected: RejectedValue) => void },
): Promise<unknown> {
  let outcome: Outcome;
  try {
    outcome = await schema["~standard"].validate(value);
  } catch (error) {
    // An error of a schema is a bug, except for a ValueError, which rejects the value.
    if (!(error instanceof ValueError)) throw error;
    reject({ name, issues: [{ message: error.message }], value });
    return undefined;
  }
  if (outcome.issues === undefined) return outcome.value;
  if (value !== undefined || !optional) reject({ name, issues: outcome.issues, value });
  return undefined;
}

function throwRejected({ name, issues, value }: RejectedValue): never {
  const { location, message } = toIssue(name, issues, value);
  throw new RPCError("validation_error", `${location}: ${message}`, {
    parameter: name,
    expected: message,
    ...(location === name ? {} : { path: location }),
  });
}

/** Returns the messages of a rejected value, by the dotted name of the field: `address.street`. */
export function issuesByField({ name, issues, value }: RejectedValue): Map<string, string> {
  const messages = new Map<string, string>();
  for (const issue of issues) {
    const field = [name, ...Array.from(issue.path ?? [], keyOf)].map(String).join(".");
    if (!messages.has(field)) messages.set(field, toIssue(name, [issue], value).message);
  }
  return messages;
}

/** Returns where the first issue is, as a path that begins with `name`, and its message without secrets. */
function toIssue(
  name: string,
  [issue]: readonly Issue[],
  value: unknown,
): { readonly location: string; readonly message: string } {
  // Array.from, because ArkType's paths are a subclass of Array whose map() returns another path.
  const path = Array.from(issue?.path ?? [], keyOf);
  const location = valuePath(name, path);
  return { location, message: shownMessage(issue, { location, value: valueAt(value, path) }) };
}

/** The maximum length of a schema's message that is sent, in characters: some libraries include the whole value. */
const MAX_MESSAGE_LENGTH = 200;

const GENERIC_MESSAGE = "is not valid";

/** Returns the message of an issue, unless it contains a value that is named like a secret. */
function shownMessage(issue: Issue | undefined, { location, value }: { location: string; value: unknown }): string {
  const message = issue?.message ?? GENERIC_MESSAGE;
  const isShown = typeof value !== "object" && value !== "" && message.includes(String(value));
  if (isShown && isSecretName(location)) return GENERIC_MESSAGE;
  return message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : inner),
    value,
  );
}

function keyOf(segment: PropertyKey | { readonly key: PropertyKey }): PropertyKey {
  return typeof segment === "object" ? segment.key : segment;
}

type Run = (...args: unknown[]) => unknown;

/**
 * Returns a function whose result passes the schema of the option `returns`: callers receive the output of the schema. For
 * a generator, each value passes it. A redirect passes without the schema.
 *
 * A result that does not match is a bug of the application, not of the caller: the call fails with `internal`, and the
 * log has the path inside the result.
 */
export function withResultSchema(run: Run, schema: StandardSchema, { name, stream }: Signature): Run {
  const check = async (result: unknown): Promise<unknown> => {
    const outcome = await runResultSchema(schema, result, name);
    if (outcome.issues === undefined) return outcome.value;
    const { location, message } = toIssue(stream ? "value" : "result", outcome.issues, result);
    throw new Error(`The result of ${name} does not match its schema \`returns\`: ${location}: ${message}`);
  };
  if (!stream) {
    return async (...args) => {
      const result = await run(...args);
      return result instanceof Redirect ? result : check(result);
    };
  }
  return async function* (...args) {
    let returned: unknown; // it may be a redirect
    const values = (async function* () {
      // A function with `stream` in its signature was declared with function*, so it returns a generator.
      returned = yield* run(...args) as AsyncIterable<unknown>;
    })();
    for await (const value of values) yield check(value);
    return returned;
  };
}

/** Runs a schema. An error that it throws is a bug, also if it would be a message for the caller of a function. */
async function runResultSchema(schema: StandardSchema, value: unknown, name: string) {
  try {
    return await schema["~standard"].validate(value);
  } catch (error) {
    throw new Error(`The schema \`returns\` of ${name} threw an error`, { cause: error });
  }
}

/** The maximum length at which a value, a name or a key that a caller sent is shown, in characters. */
const MAX_SHOWN_LENGTH = 40;

function truncate(text: string): string {
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}

/**
 * Returns the value received, as the end of an error message: `, got "three"`. Returns an empty string if the path
 * is named like a secret, because the caller may show the message on a page or log it.
 */
export function describeReceived(path: string, value: unknown): string {
  if (isSecretName(path)) return "";
  // JSON.parse reads 1e400 as Infinity, whose JSON is null.
  const json = typeof value === "number" ? undefined : JSON.stringify(value);
  return `, got ${truncate(json ?? String(value))}`;
}

/** Returns whether a parameter, or a path inside one, is named like a secret. When unsure, it returns `true`. */
export function isSecretName(path: string): boolean {
  return /passw|passphrase|passcode|pwd|cvc|cvv|secret|token|credential|private_?key|api_?key|\bpin\b|otp/i.test(path);
}

/** Returns the path of a value inside a parameter: `items[2].price`, `prices["per day"]`. */
export function valuePath(parameter: string, keys: readonly PropertyKey[]): string {
  return parameter + keys.map(pathSegment).join("");
}

function pathSegment(key: PropertyKey): string {
  if (typeof key === "number") return `[${key}]`;
  const name = String(key);
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]{0,39}$/u.test(name) ? `.${name}` : `[${JSON.stringify(truncate(name))}]`;
}
