/** Reads the members of type literals and interfaces. */
import type { ESTree } from "vite";
import type { ObjectFields, TypeShape } from "../../protocol/index.ts";
import { keyName, type Node } from "../syntax/index.ts";
import { onlyFields, uncheckedShape } from "./operations.ts";
import { readNestedType, sourceText, type TypeContext, type TypeNode } from "./type-context.ts";

/** One property of an object type. */
export interface Member {
  /** `undefined` when the property has no type annotation. */
  readonly type: TypeNode | undefined;
  readonly optional: boolean;
}

/** The properties of an object type, by name. */
export type Members = ReadonlyMap<string, Member>;

/**
 * Returns the properties of an object type, and `undefined` for a type that is not one, or that cannot be read, such as one
 * that another module declares. The types of the properties are not read.
 *
 * @throws CompileError for an alias that refers to itself
 */
export function membersOf(type: TypeNode, context: TypeContext): Members | undefined {
  const inner: TypeContext = { ...context, use: "members", members: [] };
  const fields = onlyFields(context.read(type, inner))?.fields;
  const member = ({ ref = -1, optional }: TypeShape): Member => ({ type: inner.members[ref], optional: !!optional });
  return fields && new Map(fields.map(([name, shape]) => [name, member(shape)]));
}

/** Reads the members of an object type; `undefined` when one of them is not a property with a literal key. */
export function readFields(type: TypeNode, members: readonly Node[], context: TypeContext): ObjectFields | undefined {
  const fields = new Map<string, TypeShape>();
  let rest: TypeShape | undefined;
  for (const member of members) {
    if (context.use === "members" && member.type !== "TSPropertySignature") continue;
    if (member.type === "TSIndexSignature") {
      if (rest || member.parameters[0]?.typeAnnotation.typeAnnotation.type !== "TSStringKeyword") return undefined;
      rest = readNestedType({ ...type, node: member.typeAnnotation.typeAnnotation }, context);
      continue;
    }
    if (member.type !== "TSPropertySignature" && member.type !== "TSMethodSignature") return undefined;
    const name = keyName(member);
    // In an object literal, `__proto__` sets the prototype. Calls with such a key are rejected in any case.
    if (name === undefined || name === "__proto__") {
      if (context.use !== "members") return undefined;
      continue;
    }
    const field = fieldShape(type, member, context);
    if (context.use !== "result") fields.set(name, field);
    else if (CONVERSIONS.has(name) && mayBeFunction(member, field)) return undefined;
    else if (!isFunctionMember(member)) fields.set(name, sentField(field, context));
  }
  return { fields: [...fields], ...(rest ? { rest } : {}) };
}

/**
 * Returns the shape of a result's field. A value of an unknown type may be `undefined` or a function, and the field is not
 * sent then.
 */
export function sentField(field: TypeShape, context: TypeContext): TypeShape {
  if (context.use !== "result" || field.any === undefined) return field;
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
  context: TypeContext,
): TypeShape {
  const annotation = member.type === "TSPropertySignature" ? member.typeAnnotation?.typeAnnotation : undefined;
  // JSON has no functions, so a required function would reject every call.
  if (member.type === "TSMethodSignature" || (annotation?.type === "TSFunctionType" && context.use !== "members")) {
    const omitted = uncheckedShape(sourceText({ ...type, node: member }), true);
    context.undefinedFields.add(omitted);
    return omitted;
  }
  const shape = annotation ? readNestedType({ ...type, node: annotation }, context) : uncheckedShape("");
  const field: TypeShape = member.optional ? { ...shape, optional: true } : shape;
  if (shape.optional) context.undefinedFields.add(field);
  return field;
}
