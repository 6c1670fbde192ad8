import { RPCError, ValueError } from "../errors.ts";
import type { Parameter, Signature } from "../protocol/index.ts";
import { isSecret, placeIn } from "./place.ts";

/** What a schema says of a value: the value as it is taken, or what is wrong with it. */
type Outcome = { readonly value: unknown; readonly issues?: undefined } | { readonly issues: readonly Issue[] };

interface Issue {
  readonly message: string;
  /** Where in the value: keys and indexes, each by itself or as `{ key }`. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * A schema of any library that keeps to Standard Schema (Zod, Valibot, ArkType and others).
 *
 * @see https://standardschema.dev
 */
export interface StandardSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly validate: (value: unknown) => Outcome | Promise<Outcome>;
  };
}

/** Schemas by the names of the parameters that they check. */
export type Schemas = Readonly<Record<string, StandardSchema>>;

/**
 * Checks that schemas can be what they are given as.
 *
 * @throws TypeError for what is no schema, and for a name that no parameter has
 */
export function checkSchemas(
  schemas: unknown,
  { params }: Signature,
  where: string,
): asserts schemas is Schemas | undefined {
  if (schemas === undefined) return;
  if (typeof schemas !== "object" || schemas === null) {
    throw new TypeError(`${where}: validate is an object of schemas by parameter, as { email: z.email() }.`);
  }
  for (const [name, schema] of Object.entries(schemas)) {
    if (!params.some((parameter) => parameter.name === name)) {
      throw new TypeError(`${where}: validate names ${name}, which is no parameter.`);
    }
    if (typeof schema?.["~standard"]?.validate !== "function") {
      throw new TypeError(`${where}: what validate gives for ${name} is no Standard Schema.`);
    }
  }
}

/**
 * Holds arguments to their schemas, after they were coerced: what a schema makes of a value is what
 * the function gets. A schema may give a value for a parameter that was left out; if it wants one, and the
 * parameter may be left out, the function's own default holds.
 *
 * @param args as the function will be called: in order, or of a keyed function the one object
 * @throws RPCError `validation_error` that names the parameter, and the place in it
 */
export async function validateArguments(
  { params, keyed }: Signature,
  schemas: Schemas,
  args: readonly unknown[],
): Promise<unknown[]> {
  const values = [...args];
  // Without a prototype, as it came: a parameter named `constructor` that was left out must not find one there.
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
  const outcome = await outcomeOf(name, schema, value);
  if (outcome.issues === undefined) return outcome.value;
  if (value === undefined && optional) return undefined;
  const [issue] = outcome.issues;
  // ArkType's paths are a class of arrays whose own map() makes another path.
  const path = Array.from(issue?.path ?? [], keyOf);
  const place = placeIn(name, path);
  const message = messageOf(issue, { place, value: valueAt(value, path) });
  throw new RPCError("validation_error", `${place}: ${message}`, {
    parameter: name,
    expected: message,
    ...(place === name ? {} : { path: place }),
  });
}

/** Asks a schema. What it throws is a fault of its own, unless it says that the value is at fault. */
async function outcomeOf(name: string, schema: StandardSchema, value: unknown): Promise<Outcome> {
  try {
    return await schema["~standard"].validate(value);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw new RPCError("validation_error", `${name}: ${error.message}`, { parameter: name, expected: error.message });
  }
}

/** The most of a schema's message that is told: some libraries put the whole value into it. */
const MOST_OF_A_MESSAGE = 200;

const IN_GENERAL = "is not valid";

/** Gives what a schema says, unless it shows a value that is named like a secret. */
function messageOf(issue: Issue | undefined, { place, value }: { place: string; value: unknown }): string {
  const message = issue?.message ?? IN_GENERAL;
  const isShown = typeof value !== "object" && value !== "" && message.includes(String(value));
  if (isShown && isSecret(place)) return IN_GENERAL;
  return message.length > MOST_OF_A_MESSAGE ? `${message.slice(0, MOST_OF_A_MESSAGE)}…` : message;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : at), value);
}

function keyOf(at: PropertyKey | { readonly key: PropertyKey }): PropertyKey {
  return typeof at === "object" ? at.key : at;
}
