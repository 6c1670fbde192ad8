import type { TypeShape } from "../../protocol/index.ts";
import type { ImportedName, ModuleExports, Node, Scope, Scopes, SourceFile } from "../syntax/index.ts";

/** A module that declares types. */
export interface TypeModule {
  readonly source: SourceFile;
  readonly scopes: Scopes;
  readonly exports: ModuleExports;
}

/** A type node, and where its names are looked up: possibly in another module than the server function's. */
export interface TypeNode {
  readonly node: Node;
  readonly scope: Scope;
  readonly module: TypeModule;
  /** The type arguments, by the type parameter that each is bound to. */
  readonly typeArguments: ReadonlyMap<Node, TypeNode>;
  /** For a type argument: the number of open declarations at the reference that passes it. */
  readonly openDepth?: number;
}

/** The module that declares an imported type, and the type's local name in it. */
export interface TypeDeclaration {
  readonly module: TypeModule;
  readonly local: string;
}

/** Looks up an imported type; returns `undefined` when no module of the project declares it. */
export type TypeLookup = (from: TypeModule, imported: ImportedName) => TypeDeclaration | undefined;

/** A declaration that is being read. */
interface OpenDeclaration {
  readonly declaration: Node;
  /** The number of arrays and objects around it. */
  readonly depth: number;
  /** Its index in `ShapeContext.shapes`, once the declaration has been found inside itself. */
  ref?: number;
}

/** The maximum number of type nodes read for one parameter or result. It bounds a generic type that expands forever. */
export const MAX_TYPE_NODES = 500;

/**
 * What a type is read for. The shape of an argument is what strict applications check: a value may belong to only one
 * list and one object type. The shape of a result is only documented: it is the type's JSON, as `Serialized` of tsweb
 * describes it.
 */
export type ShapeUse = "argument" | "result";

/** The state of reading the types of one function. */
export interface ShapeContext {
  readonly use: ShapeUse;
  readonly lookup: TypeLookup;
  /**
   * Reads a type: `readShape`. The readers of objects, named types and utility types call it through the
   * context, because it calls them.
   */
  readonly read: (type: TypeNode, context: ShapeContext) => TypeShape;
  /** The declarations that contain the type that is being read, outermost first. */
  readonly open: OpenDeclaration[];
  /** The recursive types found so far, which shapes refer to by index. */
  readonly shapes: TypeShape[];
  /** The number of arrays and objects around the type that is being read. */
  depth: number;
  /** The number of type nodes that may still be read for this parameter or result. */
  remainingNodes: number;
  /** The global types around the whole result, whose type argument is what is sent: `Promise`, and for streams generators. */
  wrappers: ReadonlySet<string>;
  /** The number of wrappers read so far. */
  unwrapped: number;
  /** The fields that may be omitted because of their type, not because of a `?`, which `Required` removes. */
  readonly undefinedFields: WeakSet<TypeShape>;
}

/** Creates the context for the parameters, or the result, of one function. */
export function createShapeContext(use: ShapeUse, lookup: TypeLookup, read: ShapeContext["read"]): ShapeContext {
  return {
    use,
    lookup,
    read,
    open: [],
    shapes: [],
    depth: 0,
    remainingNodes: MAX_TYPE_NODES,
    wrappers: new Set(),
    unwrapped: 0,
    undefinedFields: new WeakSet(),
  };
}

/** Reads a type inside an array or object, where a declaration may refer to itself. */
export function readNestedShape(type: TypeNode, context: ShapeContext): TypeShape {
  context.depth++;
  try {
    return context.read(type, context);
  } finally {
    context.depth--;
  }
}

/** Reads a type in which `Promise` and generators do not stand for what is sent. */
export function withoutWrappers(context: ShapeContext, read: () => TypeShape): TypeShape {
  const { wrappers } = context;
  context.wrappers = new Set();
  const shape = read();
  context.wrappers = wrappers;
  return shape;
}

/** Reads an array type from the type of its items. */
export function arrayShape(type: TypeNode, item: Node, context: ShapeContext): TypeShape {
  return { list: { of: readNestedShape({ ...type, node: item }, context) } };
}

/** Returns the source text of a type in one line, cut at 60 characters. */
export function sourceText({ node, module }: Pick<TypeNode, "node" | "module">): string {
  const text = module.source.code.slice(node.start, node.end).replace(/\s+/g, " ");
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
