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
    const field = fieldShape(type, member, context);
    if (context.use === "argument") fields.set(name, field);
    else if (CONVERSIONS.has(name) && mayBeFunction(member, field)) return undefined;
    else if (!isFunctionMember(member)) fields.set(name, sentField(field, context));
  }
  return { fields: [...fields], ...(rest ? { rest } : {}) };
}

/**
 * Returns the shape of a result's field. A value of an unknown type may be `undefined` or a function, and the field is not
 * sent then.
 */
export function sentField(field: TypeShape, context: ShapeContext): TypeShape {
  if (context.use === "argument" || field.any === undefined) return field;
  const sent: TypeShape = { ...field, optional: true };
  context.undefinedFields.add(sent);
  return sent;
}

/** Methods that decide how an object is sent (docs/protocol.md 5.1). */
const CONVERSIONS = new Set(["to_dict", "toJSON", "then", "next", "toFixed"]);

function mayBeFunction(member: ESTree.TSPropertySignature | ESTree.TSMethodSignature, field: TypeShape): boolean {
  const { any, optional, ...values } = field;
  return isFunctionMember(member) || any !== undefined || (optional === true && Object.keys(values).length === 0);
}

/** Returns whether a member is a function, which results omit. A getter is a property. */
function isFunctionMember(member: ESTree.TSPropertySignature | ESTree.TSMethodSignature): boolean {
  if (member.type === "TSMethodSignature") return member.kind === "method";
  return member.typeAnnotation?.typeAnnotation.type === "TSFunctionType";
}

function fieldShape(
  type: TypeNode,
  member: ESTree.TSPropertySignature | ESTree.TSMethodSignature,
  context: ShapeContext,
): TypeShape {
  const annotation = member.type === "TSPropertySignature" ? member.typeAnnotation?.typeAnnotation : undefined;
  // JSON has no functions, so a required function would reject every call.
  if (member.type === "TSMethodSignature" || annotation?.type === "TSFunctionType") {
    const omitted = uncheckedShape(sourceText({ ...type, node: member }), true);
    context.undefinedFields.add(omitted);
    return omitted;
  }
  const shape = annotation ? readNestedShape({ ...type, node: annotation }, context) : uncheckedShape("");
  const field: TypeShape = member.optional ? { ...shape, optional: true } : shape;
  if (shape.optional) context.undefinedFields.add(field);
  return field;
}
