import type { ESTree } from "vite";
import type { TypeShape } from "../../protocol/index.ts";
import type { ImportedName, Node, Scope, Scopes, SourceFile } from "../syntax/index.ts";

/** A module that declares types. */
export interface TypeModule {
  readonly source: SourceFile;
  readonly scopes: Scopes;
}

/** A type node, or the node of a value, and where its names are looked up: possibly in another module than the function's. */
export interface TypeNode {
  readonly node: Node;
  readonly scope: Scope;
  readonly module: TypeModule;
  /** The type arguments, by the type parameter that each is bound to. */
  readonly typeArguments?: ReadonlyMap<Node, TypeNode>;
  /** For a type argument: the number of open declarations at the reference that passes it. */
  readonly openDepth?: number;
}

/** A node that refers to a type by name, with optional type arguments. */
export interface TypeReference extends TypeNode {
  readonly node: Node & { readonly typeArguments: ESTree.TSTypeParameterInstantiation | null };
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
  /** Its index in `TypeContext.shapes`, once the declaration has been found inside itself. */
  ref?: number;
}

/** The maximum number of type nodes read for one parameter or result. It bounds a generic type that expands forever. */
export const MAX_TYPE_NODES = 500;

/**
 * What a type is read for.
 *
 * - `coercion`: how a parameter is coerced in every application. Only `int`, `float`, `boolean`, literals, `null` and
 *   `undefined` count, and all other types are unchecked. A type that may contain these, but cannot be read, is an error.
 * - `members`: the properties of an object type. Their own types are not read: each is a `ref` to a node in
 *   `TypeContext.members`. Parts that cannot be read are left out.
 * - `argument`: what strict applications check. A value may belong to only one list and one object type.
 * - `result`: what is documented: the type's JSON, as `Serialized` of tsweb describes it.
 */
type TypeUse = "coercion" | "members" | "argument" | "result";

/** The state of reading the types of one function. */
export interface TypeContext {
  readonly use: TypeUse;
  readonly lookup: TypeLookup;
  /** Reads a type: `readType`. The readers of its parts call it through the context, because it calls them. */
  readonly read: (type: TypeNode, context: TypeContext) => TypeShape;
  /** The declarations that contain the type that is being read, outermost first. */
  readonly open: OpenDeclaration[];
  /** The recursive types found so far, which shapes refer to by index. */
  readonly shapes: TypeShape[];
  /** The types of the properties found so far, which the shapes of `members` refer to by index. */
  readonly members: TypeNode[];
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
export function createTypeContext(
  use: TypeUse,
  read: TypeContext["read"],
  lookup: TypeLookup = () => undefined,
): TypeContext {
  return {
    use,
    lookup,
    read,
    open: [],
    shapes: [],
    members: [],
    depth: 0,
    // In the first two uses, a type that contains itself ends the expansion.
    remainingNodes: use === "argument" || use === "result" ? MAX_TYPE_NODES : Number.POSITIVE_INFINITY,
    wrappers: new Set(),
    unwrapped: 0,
    undefinedFields: new WeakSet(),
  };
}

/** Reads a type inside an array or object, where a declaration may refer to itself. */
export function readNestedType(type: TypeNode, context: TypeContext): TypeShape {
  if (context.use === "members") return { ref: context.members.push(type) - 1 };
  context.depth++;
  const shape = context.read(type, context);
  context.depth--;
  return shape;
}

/**
 * Reads a type that a declaration has. Returns `undefined` if it is being read already, with no array or object in between: TypeScript
 * reports such a type, and it would be read forever.
 */
export function readOnce(declaration: Node, context: TypeContext, read: () => TypeShape): TypeShape | undefined {
  const { open, depth } = context;
  if (open.some((outer) => outer.declaration === declaration && outer.depth === depth)) return undefined;
  open.push({ declaration, depth });
  const shape = read();
  open.pop();
  return shape;
}

/** Reads a type in which `Promise` and generators do not stand for what is sent. */
export function withoutWrappers(context: TypeContext, read: () => TypeShape): TypeShape {
  const { wrappers } = context;
  context.wrappers = new Set();
  const shape = read();
  context.wrappers = wrappers;
  return shape;
}

/** Reads an array type from the type of its items. */
export function arrayShape(type: TypeNode, item: Node, context: TypeContext): TypeShape {
  return { list: { of: readNestedType({ ...type, node: item }, context) } };
}

/** Returns the source text of a type in one line, cut at 60 characters. */
export function sourceText({ node, module }: Pick<TypeNode, "node" | "module">): string {
  const text = module.source.code.slice(node.start, node.end).replace(/\s+/g, " ");
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
