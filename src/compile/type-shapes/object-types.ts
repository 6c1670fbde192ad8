import type { ESTree } from "vite";
import type { ObjectFields, TypeShape } from "../../protocol/index.ts";
import type { Node } from "../syntax/index.ts";
import { propertyKey } from "../types/index.ts";
import { uncheckedShape } from "./operations.ts";
import { readNestedShape, type ShapeContext, sourceText, type TypeNode } from "./shape-context.ts";

/** Reads a type literal: `{ … }`. */
export function typeLiteralShape(type: TypeNode, members: readonly Node[], context: ShapeContext): TypeShape {
  const object = readFields(type, members, context);
  // `{}` accepts every value except null and undefined.
  return object && members.length > 0 ? { object } : uncheckedShape(sourceText(type));
}

/** Reads the members of an object type; `undefined` when one of them is not a property with a literal key. */
export function readFields(type: TypeNode, members: readonly Node[], context: ShapeContext): ObjectFields | undefined {
  const fields = new Map<string, TypeShape>();
  let rest: TypeShape | undefined;
  for (const member of members) {
    if (member.type === "TSIndexSignature") {
      if (rest || member.parameters[0]?.typeAnnotation.typeAnnotation.type !== "TSStringKeyword") return undefined;
      rest = readNestedShape({ ...type, node: member.typeAnnotation.typeAnnotation }, context);
      continue;
    }
    if (member.type !== "TSPropertySignature" && member.type !== "TSMethodSignature") return undefined;
    const name = propertyKey(member.key, member.computed);
    // In an object literal, `__proto__` sets the prototype. Calls with such a key are rejected in any case.
    if (name === undefined || name === "__proto__") return undefined;
    fields.set(name, fieldShape(type, member, context));
  }
  return { fields: [...fields], ...(rest ? { rest } : {}) };
}

function fieldShape(
  type: TypeNode,
  member: ESTree.TSPropertySignature | ESTree.TSMethodSignature,
  context: ShapeContext,
): TypeShape {
  const annotation = member.type === "TSPropertySignature" ? member.typeAnnotation?.typeAnnotation : undefined;
  // JSON has no functions, so a required function would reject every call.
  if (member.type === "TSMethodSignature" || annotation?.type === "TSFunctionType") {
    return uncheckedShape(sourceText({ ...type, node: member }), true);
  }
  const shape = annotation ? readNestedShape({ ...type, node: annotation }, context) : uncheckedShape("");
  return member.optional ? { ...shape, optional: true } : shape;
}
