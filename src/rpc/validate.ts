import { RPCError, ValueError } from "../errors.ts";
import type { Parameter, Signature } from "../protocol/index.ts";
import { isSecretName, valuePath } from "./value-path.ts";

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
export interface StandardSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly validate: (value: unknown) => Outcome | Promise<Outcome>;
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
    if (typeof schema?.["~standard"]?.validate !== "function") {
      throw new TypeError(
        `${location}: validate.${name} is not a Standard Schema. Use a schema of Zod, Valibot or ArkType.`,
      );
    }
  }
}

/**
 * Validates coerced arguments with the schemas of their function and returns the schemas' outputs.
 *
 * A schema may supply a value for an omitted parameter. If it rejects `undefined` and the parameter is optional, the
 * function's own default applies.
 *
 * @param args the arguments of the function: in order, or one object for a keyed function
 * @throws RPCError `validation_error`, whose message and `details` name the parameter and the path inside it
 * @see docs/protocol.md 4.5
 */
export async function validateArguments(
  { params, keyed }: Signature,
  schemas: ParameterSchemas,
  args: readonly unknown[],
): Promise<unknown[]> {
  const values = [...args];
  // Without a prototype, as bindArguments returns it: an omitted parameter named `constructor` must not be inherited.
  const fields: Record<string, unknown> = Object.assign(Object.create(null), keyed ? args[0] : {});
  for (const [index, parameter] of params.entries()) {
    const { name } = parameter;
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
    if (!schema) continue;
    const value = await validateOne(parameter, schema, keyed ? fields[name] : values[index]);
    if (!keyed) values[index] = value;
    else if (value !== undefined) fields[name] = value;
    else delete fields[name];
  }
  return keyed ? [fields] : values;
}

async function validateOne({ name, optional }: Parameter, schema: StandardSchema, value: unknown): Promise<unknown> {
  const outcome = await runSchema(name, schema, value);
  if (outcome.issues === undefined) return outcome.value;
  if (value === undefined && optional) return undefined;
  const [issue] = outcome.issues;
  // Array.from, because ArkType's paths are a subclass of Array whose map() returns another path.
  const path = Array.from(issue?.path ?? [], keyOf);
  const location = valuePath(name, path);
  const message = shownMessage(issue, { location, value: valueAt(value, path) });
  throw new RPCError("validation_error", `${location}: ${message}`, {
    parameter: name,
    expected: message,
    ...(location === name ? {} : { path: location }),
  });
}

/** Runs a schema. An error that it throws is a bug of the schema, except for a ValueError, which rejects the value. */
async function runSchema(name: string, schema: StandardSchema, value: unknown): Promise<Outcome> {
  try {
    return await schema["~standard"].validate(value);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw new RPCError("validation_error", `${name}: ${error.message}`, { parameter: name, expected: error.message });
  }
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
