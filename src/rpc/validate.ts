import { RPCError } from "../errors.ts";
import type { Signature } from "./signature.ts";

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
 * the function gets.
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
  const fields = keyed ? { ...(args[0] as Record<string, unknown>) } : {}; // a keyed function has one object
  for (const [name, schema] of Object.entries(schemas)) {
    const index = params.findIndex((parameter) => parameter.name === name);
    const value = await validateOne(name, schema, keyed ? fields[name] : values[index]);
    if (keyed) fields[name] = value;
    else values[index] = value;
  }
  return keyed ? [fields] : values;
}

async function validateOne(name: string, schema: StandardSchema, value: unknown): Promise<unknown> {
  const outcome = await schema["~standard"].validate(value);
  const issue = outcome.issues?.[0];
  if (issue === undefined) return (outcome as { readonly value: unknown }).value; // without issues there is a value
  const place = name + (issue.path ?? []).map(step).join("");
  throw new RPCError("validation_error", `${place}: ${issue.message}`, { parameter: name, expected: issue.message });
}

function step(at: PropertyKey | { readonly key: PropertyKey }): string {
  const key = typeof at === "object" ? at.key : at;
  return typeof key === "number" ? `[${key}]` : `.${String(key)}`;
}
