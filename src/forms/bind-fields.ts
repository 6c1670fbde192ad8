import type { Parameter, Signature, TypeShape } from "../protocol/index.ts";
import { type ConvertedFields, convertField } from "./convert-field.ts";
import type { FieldNode } from "./field-tree.ts";
import { MESSAGES } from "./messages.ts";

/** The arguments that the fields of a form stand for. */
export interface BoundFields {
  /** The arguments of the function: the values in order, or one object for a keyed function. */
  readonly args: unknown[];
  /** The messages of the fields that do not match their parameters, by field, in the order of the parameters. */
  readonly errors: Map<string, string>;
  /** The names of fields whose parameter, or member of one, is a list. */
  readonly lists: ReadonlySet<string>;
  /** The names of the parameters whose fields do not match. */
  readonly refused: ReadonlySet<string>;
}

/**
 * Assigns the fields of a form to the parameters of a function, and converts each by its type. All fields that do not
 * match are reported, not only the first. Fields that are no parameter are ignored.
 *
 * @param hasSchema returns whether a parameter has a schema, which then decides about texts that need no conversion
 * @see docs/protocol.md 15.3
 */
export function bindFields(
  { params, keyed, shapes = [] }: Signature,
  fields: FieldNode,
  hasSchema: (name: string) => boolean,
): BoundFields {
  const errors = new Map<string, string>();
  const lists = new Set<string>();
  const refused = new Set<string>();
  const values = params.map((parameter) => {
    const { name } = parameter;
    const node = fields.members.get(name);
    const converted: ConvertedFields = { shapes, errors, lists, hasSchema: hasSchema(name) };
    const errorsBefore = errors.size;
    const value = parameter.files
      ? filesOf(parameter, node, errors)
      : convertField(shapeOf(parameter), node, { path: name, converted });
    if (errors.size > errorsBefore) refused.add(name);
    return value;
  });
  return { args: keyed ? [toObject(params, values)] : values, errors, lists, refused };
}

/** Returns the files of a parameter. Of several files for one, the last counts, as of other fields. */
function filesOf(
  { name, files, optional, nullable }: Parameter,
  node: FieldNode | undefined,
  errors: Map<string, string>,
): unknown {
  const received = node?.values.filter((value) => typeof value !== "string") ?? [];
  if (files === "many") return received;
  const file = received.at(-1);
  if (file || optional) return file;
  if (nullable) return null;
  errors.set(name, MESSAGES.file);
}

/** Returns the type of a parameter as a shape. */
export function shapeOf({ type, optional, nullable, literals, annotation, shape }: Parameter): TypeShape {
  const base: TypeShape =
    shape ?? (type === "any" ? { any: annotation } : { kinds: [type], ...(literals && { literals }) });
  return { ...base, ...(optional && { optional }), ...(nullable && { nullable }) };
}

function toObject(params: readonly Parameter[], values: readonly unknown[]): Record<string, unknown> {
  // Without a prototype: an omitted parameter named `constructor` must not be inherited.
  const fields: Record<string, unknown> = Object.create(null);
  for (const [index, { name }] of params.entries()) if (values[index] !== undefined) fields[name] = values[index];
  return fields;
}
