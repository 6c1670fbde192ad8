import { RPCError } from "../errors.ts";
import { RequestError } from "../http/index.ts";
import { fieldErrors, type Parameter, type Signature, type TypeShape } from "../protocol/index.ts";
import {
  applySchemas,
  bindArguments,
  type CallSettings,
  type FunctionDefinition,
  issuesByField,
  readArgumentsField,
  validateArguments,
} from "../rpc/index.ts";
import {
  buildFieldTree,
  type ConvertedFields,
  convertField,
  type FieldNode,
  type FormFields,
  MESSAGES,
  type Place,
  refuse,
} from "./convert-field.ts";

/** Converts the fields of a form to the arguments of its function. */
export function bindForm({ signature, options }: FunctionDefinition, fields: FormFields): BoundFields {
  return bindFields(signature, buildFieldTree(fields), (name) => Object.hasOwn(options.validate ?? {}, name));
}

/**
 * Returns the arguments after the schemas of the function. Parameters whose fields do not match have no value that a
 * schema could check: theirs is left out.
 *
 * @throws RPCError `validation_error` with the messages of all refused fields
 * @see docs/protocol.md 4.5 and 15.4
 */
export async function validateForm({ signature, options }: FunctionDefinition, bound: BoundFields): Promise<unknown[]> {
  const messages = new Map<string, string>();
  const schemas = Object.fromEntries(
    Object.entries(options.validate ?? {}).filter(([name]) => !bound.refused.has(name)),
  );
  const args = await validateArguments(signature, {
    schemas,
    args: bound.args,
    reject: (rejected) => {
      for (const [field, message] of issuesByField(rejected)) if (!messages.has(field)) messages.set(field, message);
    },
  });
  const errors = inOrderOf(signature.params, new Map([...bound.errors, ...messages]));
  if (errors.size > 0) throw invalidFieldsError(errors);
  return withoutTrailingUndefined(args);
}

/** Returns messages in the order of the parameters: the first one is that of `details.parameter`. */
function inOrderOf(
  params: readonly { readonly name: string }[],
  messages: ReadonlyMap<string, string>,
): Map<string, string> {
  const positions = new Map(params.map(({ name }, index) => [name, index]));
  const position = (field: string) => positions.get(field.split(".")[0] ?? "") ?? positions.size;
  return new Map([...messages].sort(([a], [b]) => position(a) - position(b)));
}

/** So that `arguments.length` is that of a direct call. Defaults apply either way. */
function withoutTrailingUndefined(args: readonly unknown[]): unknown[] {
  return args.slice(0, args.findLastIndex((value) => value !== undefined) + 1);
}

/** The arguments that the fields of a form stand for. */
interface BoundFields {
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
    const converted: ConvertedFields = { shapes, errors, refused: false, lists, hasSchema: hasSchema(name) };
    const place = { path: name, converted };
    const value = parameter.files ? filesOf(parameter, node, place) : convertField(shapeOf(parameter), node, place);
    if (converted.refused) refused.add(name);
    return value;
  });
  return { args: keyed ? [toObject(params, values)] : values, errors, lists, refused };
}

/** Returns the files of a parameter. Of several files for one, the last counts, as of other fields. */
function filesOf({ files, optional, nullable }: Parameter, node: FieldNode | undefined, place: Place): unknown {
  const received = node?.values.filter((value) => typeof value !== "string") ?? [];
  if (files === "many") return received;
  const file = received.at(-1);
  if (file || optional) return file;
  return nullable ? null : refuse(place, MESSAGES.file);
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

/**
 * Returns the arguments of a call with files: those of the field `__args`, bound as in any call, and the files of the
 * parameters that take them.
 *
 * @throws RPCError `validation_error` as a call
 * @see docs/protocol.md 15.7
 */
export async function callArguments(
  definition: FunctionDefinition,
  { fields, text }: { readonly fields: FormFields; readonly text: string },
  strict: CallSettings["strict"],
): Promise<readonly unknown[]> {
  const { signature } = definition;
  const args: Record<string, unknown> = { ...readArgumentsField(text) };
  for (const { name, files } of signature.params) {
    if (!files) continue;
    const received = fields.get(name)?.filter((value) => typeof value !== "string") ?? [];
    if (files === "many") args[name] ??= received;
    else if (received.length > 0) args[name] = received.at(-1);
  }
  return applySchemas(definition, bindArguments(signature, args, strict?.get(signature.name)));
}

/** The message of an error that is about several fields. */
const SEVERAL_FIELDS = "Please check the marked fields.";

/**
 * Returns the error for fields that do not match: `validation_error` with all messages in `details.errors`, and the
 * first field in `details.parameter`.
 *
 * @param errors at least one message, by field
 * @see docs/protocol.md 15.4
 */
function invalidFieldsError(errors: ReadonlyMap<string, string>): RPCError {
  const [[parameter, first] = ["", SEVERAL_FIELDS]] = errors;
  const message = errors.size === 1 ? first : SEVERAL_FIELDS;
  return new RPCError("validation_error", message, { parameter, errors: Object.fromEntries(errors) });
}

/**
 * Returns the error of a form with its messages by field in `details.errors`. The function may have thrown an error
 * with `details.parameter` only.
 */
export function withFieldErrors(error: RPCError): RPCError {
  const errors = fieldErrors(error);
  if (Object.keys(errors).length === 0 && error.details.errors === undefined) return error;
  const details = { ...error.details, errors };
  if (!(error instanceof RequestError)) return new RPCError(error.code, error.message, details);
  const { status, headers } = error;
  return new RequestError(error.code, error.message, { status, headers, details });
}
