import type { ListShape, ObjectShape, Parameter, Shape, Signature } from "../protocol/index.ts";

/** How a parameter's value is checked: whole, in parts, or not at all. */
export type Checked = "whole" | "partly" | "not";

/**
 * Says how a parameter's value is checked before its function runs.
 *
 * @param strict whether the application is strict
 */
export function isChecked(parameter: Parameter, { shapes = [] }: Pick<Signature, "shapes">, strict: boolean): Checked {
  if (!strict || !parameter.shape) return parameter.type === "any" ? "not" : "whole";
  return uncheckedParts(parameter, { shapes }).length > 0 ? "partly" : "whole";
}

/** Names the parts of a parameter that a strict application leaves unchecked: `order.items[].at: Date`. */
export function uncheckedParts({ name, shape }: Parameter, { shapes = [] }: Pick<Signature, "shapes">): string[] {
  const found: string[] = [];
  const seen = new Set<number>();
  const visit = (part: Shape, place: string): void => {
    if (part.any !== undefined) found.push(part.any === "" ? place : `${place}: ${part.any}`);
    if (part.list) for (const [at, inner] of itemsOf(part.list)) visit(inner, place + at);
    if (part.object) for (const [at, inner] of membersOf(part.object)) visit(inner, place + at);
    // What refers to itself has been seen with the type that it is in.
    if (part.ref === undefined || seen.has(part.ref)) return;
    seen.add(part.ref);
    const referred = shapes[part.ref];
    if (referred) visit(referred, place);
  };
  if (shape) visit(shape, name);
  return [...new Set(found)];
}

function itemsOf(list: ListShape): (readonly [at: string, shape: Shape])[] {
  if ("of" in list) return [["[]", list.of]];
  const items = list.items.map((item, index) => [`[${index}]`, item] as const);
  return list.rest ? [...items, ["[]", list.rest]] : items;
}

function membersOf(object: ObjectShape): (readonly [at: string, shape: Shape])[] {
  const cases = "cases" in object ? object.cases : [object];
  return cases.flatMap(({ fields, rest }) => [
    ...fields.map(([name, shape]) => [`.${name}`, shape] as const),
    ...(rest ? [["[…]", rest] as const] : []),
  ]);
}
