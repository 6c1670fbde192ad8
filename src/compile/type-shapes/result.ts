import type { ListShape, ObjectFields, ObjectShape, TypeShape } from "../../protocol/index.ts";
import { type FunctionNode, isFunctionNode, walk } from "../syntax/index.ts";
import { readShape } from "./read-shape.ts";
import { createShapeContext, type TypeLookup, type TypeModule } from "./shape-context.ts";

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
  const context = createShapeContext("result", lookup, readShape);
  context.wrappers = fn.generator ? new Set([...GENERATORS, ...PROMISES]) : PROMISES;
  const scope = module.scopes.byNode.get(fn) ?? module.scopes.module;
  const shape = readShape({ node: annotation, scope, module, typeArguments: new Map() }, context);
  // Any other return type of a generator, such as `unknown`, does not contain the type of its values.
  if (fn.generator && context.unwrapped === 0) return undefined;
  const mark = (part: TypeShape) => withOptionalReferences(part, context.shapes);
  return { shape: mark(shape), shapes: context.shapes.map(mark) };
}

function returnsNothing({ generator, body }: FunctionNode): boolean {
  if (generator || body?.type !== "BlockStatement") return false;
  let returnsValue = false;
  walk(body, (node) => {
    returnsValue ||= node.type === "ReturnStatement" && node.argument !== null;
    return !isFunctionNode(node);
  });
  return !returnsValue;
}

/**
 * Marks references to recursive types that may be omitted, such as `type Maybe = { next: Maybe } | undefined`. While such a
 * type is read, it is not known yet whether it may.
 */
export function withOptionalReferences(shape: TypeShape, shapes: readonly TypeShape[]): TypeShape {
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
