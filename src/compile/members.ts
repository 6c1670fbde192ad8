import type { ESTree } from "vite";
import type { Binding } from "./scope.ts";
import { declarationOf, type Typed, type TypeReader, typeArguments } from "./types.ts";
import type { Node } from "./walk.ts";

/** One property of an object type. */
export interface Member {
  /** Absent when it is written without a type. */
  readonly type?: Typed;
  readonly optional: boolean;
}

/** The properties of an object type, by name. */
export type Members = ReadonlyMap<string, Member>;

/**
 * Reads the properties of an object type: a literal, an interface or alias of this module, their
 * intersection, and `Readonly`, `Partial`, `Required`, `Pick` or `Omit` of them.
 *
 * @returns `undefined` for a type this cannot read, such as one that another module declares
 */
export function membersOf(type: Typed, reader: TypeReader): Members | undefined {
  const { node } = type;
  switch (node.type) {
    case "TSParenthesizedType":
      return membersOf({ ...type, node: node.typeAnnotation }, reader);
    case "TSTypeLiteral":
      return propertiesOf(node.members, type);
    case "TSIntersectionType": {
      const parts = node.types.map((part) => membersOf({ ...type, node: part }, reader));
      return parts.every((part) => part === undefined) ? undefined : merge(parts);
    }
    case "TSTypeReference": {
      if (node.typeName.type !== "Identifier") return undefined;
      const binding = type.scope.type(node.typeName.name);
      return binding ? referenced(binding, type, node, reader) : utility(node.typeName.name, type, node, reader);
    }
    default:
      return undefined;
  }
}

function referenced(
  binding: Binding,
  from: Typed,
  reference: { typeArguments: ESTree.TSTypeParameterInstantiation | null } & Node,
  reader: TypeReader,
): Members | undefined {
  const inner = { ...reader, path: [...reader.path, ...binding.nodes] };
  if (binding.nodes[0]?.type !== "TSInterfaceDeclaration") {
    const target = declarationOf(binding, from, reference, reader);
    return target && membersOf(target, inner);
  }
  // An interface that extends itself is TypeScript's error to report; here it only must not loop.
  if (binding.nodes.some((node) => reader.path.includes(node))) return undefined;
  const parts = binding.nodes.flatMap((declared) => {
    if (declared.type !== "TSInterfaceDeclaration") return [];
    const scope = reader.scopes.of.get(declared) ?? binding.scope;
    const here: Typed = {
      node: declared,
      scope,
      given: typeArguments(declared.typeParameters, scope, from, reference),
    };
    const inherited = declared.extends.map((heritage) => {
      const parent = heritage.expression.type === "Identifier" ? scope.type(heritage.expression.name) : undefined;
      return parent && referenced(parent, here, heritage, inner);
    });
    return [...inherited, propertiesOf(declared.body.body, here)];
  });
  return merge(parts);
}

function utility(name: string, type: Typed, node: ESTree.TSTypeReference, reader: TypeReader): Members | undefined {
  const argument = node.typeArguments?.params[0];
  if (!argument || !["Readonly", "Partial", "Required", "Pick", "Omit", "NoInfer"].includes(name)) return undefined;
  const members = membersOf({ ...type, node: argument }, reader);
  if (!members || (name !== "Partial" && name !== "Required")) return members;
  return new Map([...members].map(([key, member]) => [key, { ...member, optional: name === "Partial" }]));
}

function propertiesOf(signatures: readonly Node[], type: Typed): Members {
  const members = new Map<string, Member>();
  for (const signature of signatures) {
    if (signature.type !== "TSPropertySignature") continue;
    const key = propertyKey(signature.key, signature.computed);
    if (key === undefined) continue;
    const written = signature.typeAnnotation?.typeAnnotation;
    members.set(key, { optional: signature.optional, ...(written ? { type: { ...type, node: written } } : {}) });
  }
  return members;
}

/** Gives the name of a property's key; `undefined` when it is computed. */
export function propertyKey(key: Node, computed: boolean): string | undefined {
  if (key.type === "Identifier") return computed ? undefined : key.name;
  return key.type === "Literal" && key.value !== null ? String(key.value) : undefined;
}

function merge(parts: readonly (Members | undefined)[]): Members {
  return new Map(parts.flatMap((part) => (part ? [...part] : [])));
}
