/**
 * Reads types from their syntax: how a parameter is coerced (docs/protocol.md 4.2), the shape of its type, which strict
 * applications check (4.3), and that of a result, which the OpenAPI document describes. Only shapes include types of other
 * modules, which the caller looks up. A type without a readable shape is unchecked, never rejected, because only strict
 * applications and documents use shapes.
 */

import type { ESTree } from "vite";
import type {
  FileCount,
  ListShape,
  ObjectFields,
  ObjectShape,
  Parameter,
  Signature,
  TypeShape,
} from "../../protocol/index.ts";
import {
  CompileError,
  type FunctionNode,
  findNode,
  isFunctionNode,
  keyName,
  type Node,
  stringValue,
} from "../syntax/index.ts";
import { coercedValueShape } from "./coercion.ts";
import { uncheckedShape } from "./operations.ts";
import { readType } from "./read-type.ts";
import {
  createTypeContext,
  MAX_TYPE_NODES,
  type TypeContext,
  type TypeLookup,
  type TypeModule,
  type TypeNode,
} from "./type-context.ts";

export { containsCheckedType } from "./checked-types.ts";
export { coercedShape, coercedValueShape, parameterCoercion, parameterMembers } from "./coercion.ts";
export type { Member, Members } from "./object-types.ts";
export {
  MAX_TYPE_NODES,
  type TypeDeclaration,
  type TypeLookup,
  type TypeModule,
  type TypeNode,
} from "./type-context.ts";

/** The module and the scope in which the types of a function's parameters are written. */
type ParameterScope = Omit<TypeNode, "node">;

/** Returns a signature with the shape of each parameter that a strict application checks. */
export function addParameterShapes(
  signature: Signature,
  fn: FunctionNode,
  module: TypeModule,
  lookup: TypeLookup,
): Signature {
  const context = createTypeContext("argument", readType, lookup);
  const position: ParameterScope = { module, scope: module.scopes.byNode.get(fn) ?? module.scopes.module };
  const shapes = signature.keyed
    ? keyShapes(fn, position, context)
    : fn.params.map((param) => parameterShape(param, position, context));
  const mark = (shape: TypeShape) => withOptionalReferences(shape, context.shapes);
  const params = signature.params.map((parameter, index) => {
    const shape = shapes[index];
    return addFiles(addShape(parameter, shape && mark(shape)), context.shapes, (problem) => {
      const at = fn.params[signature.keyed ? 0 : index] ?? fn;
      throw new CompileError(`The server function "${signature.name}" ${problem}`, module.source, at);
    });
  });
  const recursive = context.shapes.length > 0 ? { shapes: context.shapes.map(mark) } : {};
  return rejectFilesOfStream({ ...signature, params, ...recursive }, fn, module);
}

/** Adds to a parameter that it takes files, if its shape is that of a file or of a list of files. */
function addFiles(parameter: Parameter, shapes: readonly TypeShape[], reject: (problem: string) => never): Parameter {
  const { shape } = parameter;
  if (!shape || !containsFile(shape, shapes)) return parameter;
  const files = fileCount(shape);
  if (files) {
    const { optional, nullable } = shape; // an alias of another module may have them
    return { ...parameter, files, ...(optional ? { optional } : {}), ...(nullable ? { nullable } : {}) };
  }
  return reject(
    `has the parameter "${parameter.name}" with a file inside another type. A file must be a parameter of its own: ` +
      "`File`, `Blob` or an array of them, with `?` or `| null` if it may be missing.",
  );
}

/** A stream is a call that is read for minutes, and its files would be kept as long. */
function rejectFilesOfStream(signature: Signature, fn: FunctionNode, { source }: TypeModule): Signature {
  const parameter = signature.stream && signature.params.find(({ files }) => files);
  if (!parameter) return signature;
  throw new CompileError(
    `The server function "${signature.name}" streams its result, so its parameter "${parameter.name}" cannot take ` +
      "files. Upload them with another function.",
    source,
    fn,
  );
}

/**
 * Adds a shape to a parameter, unless it is unchecked or adds nothing to the parameter's coercion. A shape that
 * is one coerced type, through an alias of another module, becomes the parameter's coercion: it then applies in
 * every application, strict or not.
 */
function addShape(parameter: Parameter, shape: TypeShape | undefined): Parameter {
  if (!shape || shape.any !== undefined) return parameter;
  const { kinds = [], list, object, file, ref, nullable, optional, literals } = shape;
  const [kind] = kinds;
  if (list || object || file || ref !== undefined || kinds.length !== 1 || !kind) return { ...parameter, shape };
  if (kind === parameter.type) return parameter;
  if (kind === "string" || parameter.type !== "any") return { ...parameter, shape };
  return {
    ...parameter,
    type: kind,
    ...(nullable ? { nullable } : {}),
    ...(optional ? { optional } : {}),
    ...(literals ? { literals } : {}),
  };
}

function parameterShape(param: ESTree.ParamPattern, position: ParameterScope, context: TypeContext): TypeShape {
  context.remainingNodes = MAX_TYPE_NODES;
  const assignment = param.type === "AssignmentPattern" ? param : undefined;
  const target: Node = assignment ? assignment.left : param;
  const annotation = target.type === "Identifier" ? target.typeAnnotation?.typeAnnotation : undefined;
  if (annotation) return readType({ ...position, node: annotation }, context);
  return assignment ? inferredShape(assignment.right, position) : uncheckedShape("");
}

/** Returns the shapes of the keys of the destructured object, in their order. */
function keyShapes(fn: FunctionNode, position: ParameterScope, context: TypeContext): TypeShape[] {
  const [param] = fn.params;
  const pattern = param?.type === "AssignmentPattern" ? param.left : param;
  if (pattern?.type !== "ObjectPattern") return [];
  const annotation = pattern.typeAnnotation?.typeAnnotation;
  const object = annotation && readType({ ...position, node: annotation }, context).object;
  const fields = new Map(object && "fields" in object ? object.fields : []);
  return pattern.properties.map((property) => {
    if (property.type === "RestElement" || property.computed) return uncheckedShape("");
    const { value } = property;
    const name = keyName(property);
    const field = name === undefined ? undefined : fields.get(name);
    if (field || annotation) return field ?? uncheckedShape("");
    return value.type === "AssignmentPattern" ? inferredShape(value.right, position) : uncheckedShape("");
  });
}

/** Infers the shape of a default value as TypeScript does: templates are strings, the rest as for coercion. */
function inferredShape(value: Node, position: ParameterScope): TypeShape {
  if (stringValue(value) !== undefined || value.type === "TemplateLiteral") return { kinds: ["string"] };
  return coercedValueShape({ ...position, node: value });
}

/** Returns how many files a parameter of a type takes; `undefined` if the type is not that of a file or a list of them. */
function fileCount(shape: TypeShape): FileCount | undefined {
  if (isOnly("file", shape)) return "one";
  const { list } = shape;
  if (!list || !("of" in list) || !isOnly("list", shape)) return undefined;
  return Object.keys(list.of).join() === "file" ? "many" : undefined;
}

function isOnly(member: "file" | "list", { nullable: _null, optional: _undefined, ...shape }: TypeShape): boolean {
  return Object.keys(shape).join() === member;
}

/** Returns whether a type contains that of a file, at any depth. */
function containsFile(shape: TypeShape, shapes: readonly TypeShape[], visited = new Set<number>()): boolean {
  const contains = (part: TypeShape | undefined) => part !== undefined && containsFile(part, shapes, visited);
  const { file, list, object, ref } = shape;
  if (file) return true;
  if (list && ("of" in list ? contains(list.of) : list.items.some(contains) || contains(list.rest))) return true;
  const cases = object ? ("cases" in object ? object.cases : [object]) : [];
  if (cases.some(({ fields, rest }) => fields.some(([, field]) => contains(field)) || contains(rest))) return true;
  if (ref === undefined || visited.has(ref)) return false;
  visited.add(ref);
  return contains(shapes[ref]);
}

/** The type of a function's result as JSON, or of a stream's values. */
export interface ResultShape {
  readonly shape: TypeShape;
  /** The recursive types that it refers to. */
  readonly shapes: readonly TypeShape[];
}

const PROMISES: ReadonlySet<string> = new Set(["Promise", "PromiseLike"]);

const GENERATORS: ReadonlySet<string> = new Set([
  ...["Generator", "Iterator", "IterableIterator", "Iterable", "IteratorObject"],
  ...["AsyncGenerator", "AsyncIterator", "AsyncIterableIterator", "AsyncIterable", "AsyncIteratorObject"],
]);

/**
 * Reads the annotated type of a function's result: that of `Promise<T>` is `T`, and that of a generator the type of its
 * values. A function without an annotation and without a `return` of a value returns nothing.
 *
 * @returns `undefined` if the result is not known
 */
export function readResultShape(fn: FunctionNode, module: TypeModule, lookup: TypeLookup): ResultShape | undefined {
  const annotation = fn.returnType?.typeAnnotation;
  if (!annotation) return returnsNothing(fn) ? { shape: { optional: true }, shapes: [] } : undefined;
  const context = createTypeContext("result", readType, lookup);
  context.wrappers = fn.generator ? new Set([...GENERATORS, ...PROMISES]) : PROMISES;
  const scope = module.scopes.byNode.get(fn) ?? module.scopes.module;
  const shape = readType({ node: annotation, scope, module }, context);
  // Any other return type of a generator, such as `unknown`, does not contain the type of its values.
  if (fn.generator && context.unwrapped === 0) return undefined;
  const mark = (part: TypeShape) => withOptionalReferences(part, context.shapes);
  return { shape: mark(shape), shapes: context.shapes.map(mark) };
}

function returnsNothing({ generator, body }: FunctionNode): boolean {
  if (generator || body?.type !== "BlockStatement") return false;
  return !findNode(body, (node) => node.type === "ReturnStatement" && node.argument !== null, isFunctionNode);
}

/**
 * Marks references to recursive types that may be omitted, such as `type Maybe = { next: Maybe } | undefined`. While such a
 * type is read, it is not known yet whether it may.
 */
function withOptionalReferences(shape: TypeShape, shapes: readonly TypeShape[]): TypeShape {
  if (shapes.length === 0) return shape;
  const mark = (part: TypeShape) => withOptionalReferences(part, shapes);
  const { list, object, ref, alternatives } = shape;
  return {
    ...shape,
    ...(ref !== undefined && shapes[ref]?.optional ? { optional: true } : {}),
    ...(list ? { list: mapList(list, mark) } : {}),
    ...(object ? { object: mapObject(object, mark) } : {}),
    ...(alternatives ? { alternatives: alternatives.map(mark) } : {}),
  };
}

function mapList(list: ListShape, map: (shape: TypeShape) => TypeShape): ListShape {
  if ("of" in list) return { of: map(list.of) };
  return { items: list.items.map(map), ...(list.rest ? { rest: map(list.rest) } : {}) };
}

function mapObject(object: ObjectShape, map: (shape: TypeShape) => TypeShape): ObjectShape {
  if ("cases" in object) return { ...object, cases: object.cases.map((fields) => mapFields(fields, map)) };
  return mapFields(object, map);
}

function mapFields(object: ObjectFields, map: (shape: TypeShape) => TypeShape): ObjectFields {
  return {
    ...object,
    fields: object.fields.map(([name, shape]) => [name, map(shape)] as const),
    ...(object.rest ? { rest: map(object.rest) } : {}),
  };
}
