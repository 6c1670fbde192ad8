import type { ESTree } from "vite";
import type { Fields, Shape } from "../../protocol/index.ts";
import { propertyKey } from "../members.ts";
import type { Node } from "../walk.ts";
import { joinFields, unchecked } from "./algebra.ts";
import { namedShape } from "./named.ts";
import { readInside } from "./read.ts";
import { type Reading, type Site, textOf } from "./reading.ts";

/** Reads an object type that is written out. */
export function literalShape(site: Site, members: readonly Node[], reading: Reading): Shape {
  const object = fieldsOf(site, members, reading);
  // `{}` is anything but null and undefined.
  return object && members.length > 0 ? { object } : unchecked(textOf(site));
}

/** Reads an interface: all declarations of its name, and what they extend. */
export function interfaceShape(
  parts: readonly ESTree.TSInterfaceDeclaration[],
  sites: readonly Site[],
  text: string,
  reading: Reading,
): Shape {
  const own: Fields[] = [];
  const inherited: Fields[] = [];
  for (const [index, declared] of parts.entries()) {
    const site = sites[index];
    const fields = site && fieldsOf(site, declared.body.body, reading);
    if (!fields) return unchecked(text);
    own.push(fields);
    for (const heritage of declared.extends) {
      const parent = heritage.expression.type === "Identifier" ? heritage.expression.name : undefined;
      const object = parent === undefined ? undefined : namedShape(site, parent, heritage, reading).object;
      if (!object || !("fields" in object)) return unchecked(text);
      inherited.push(object);
    }
  }
  const overridden = new Set(own.flatMap((object) => object.fields.map(([name]) => name)));
  const kept = inherited.map((object) => ({
    ...object,
    fields: object.fields.filter(([name]) => !overridden.has(name)),
  }));
  const object = joinFields([...kept, ...own].filter((each) => each.fields.length > 0 || each.rest));
  return object && object.fields.length + (object.rest ? 1 : 0) > 0 ? { object } : unchecked(text);
}

/** Reads members; `undefined` when there is one that a key and a type do not tell. */
function fieldsOf(site: Site, members: readonly Node[], reading: Reading): Fields | undefined {
  const fields = new Map<string, Shape>();
  let rest: Shape | undefined;
  for (const member of members) {
    if (member.type === "TSIndexSignature") {
      if (rest || member.parameters[0]?.typeAnnotation.typeAnnotation.type !== "TSStringKeyword") return undefined;
      rest = readInside({ ...site, node: member.typeAnnotation.typeAnnotation }, reading);
      continue;
    }
    if (member.type !== "TSPropertySignature" && member.type !== "TSMethodSignature") return undefined;
    const name = propertyKey(member.key, member.computed);
    // In the text of a program an object's key `__proto__` is no key; a call that brings one is refused anyway.
    if (name === undefined || name === "__proto__") return undefined;
    fields.set(name, fieldShape(site, member, reading));
  }
  return { fields: [...fields], ...(rest ? { rest } : {}) };
}

function fieldShape(
  site: Site,
  member: ESTree.TSPropertySignature | ESTree.TSMethodSignature,
  reading: Reading,
): Shape {
  const written = member.type === "TSPropertySignature" ? member.typeAnnotation?.typeAnnotation : undefined;
  // A function never arrives, so to ask for one would refuse every call.
  if (member.type === "TSMethodSignature" || written?.type === "TSFunctionType") {
    return unchecked(textOf({ ...site, node: member }), true);
  }
  const shape = written ? readInside({ ...site, node: written }, reading) : unchecked("");
  return member.optional ? { ...shape, optional: true } : shape;
}
