import type { ListShape, ObjectShape, Parameter, Signature, TypeShape } from "../protocol/index.ts";

/** How much of a parameter's value is checked before its function runs. */
export type CheckCoverage = "full" | "partial" | "none";

/**
 * Returns how much of a parameter's value is checked before its function runs.
 *
 * @param strict whether the application is strict
 */
export function checkCoverage(
  parameter: Parameter,
  { shapes = [] }: Pick<Signature, "shapes">,
  strict: boolean,
): CheckCoverage {
  if (parameter.files) return "full"; // in every application
  if (!strict || !parameter.shape) return parameter.type === "any" ? "none" : "full";
  return uncheckedParts(parameter, { shapes }).length > 0 ? "partial" : "full";
}

/** Returns the parts of a parameter that a strict application does not check: `order.items[].at: Date`. */
export function uncheckedParts({ name, shape }: Parameter, { shapes = [] }: Pick<Signature, "shapes">): string[] {
  const unchecked: string[] = [];
  const visited = new Set<number>();
  const visit = (part: TypeShape, path: string): void => {
    if (part.any !== undefined) unchecked.push(part.any === "" ? path : `${path}: ${part.any}`);
    if (part.list) for (const [key, inner] of itemsOf(part.list)) visit(inner, path + key);
    if (part.object) for (const [key, inner] of membersOf(part.object)) visit(inner, path + key);
    // A recursive type is visited once, where it first occurs.
    if (part.ref === undefined || visited.has(part.ref)) return;
    visited.add(part.ref);
    const referenced = shapes[part.ref];
    if (referenced) visit(referenced, path);
  };
  if (shape) visit(shape, name);
  return [...new Set(unchecked)];
}

function itemsOf(list: ListShape): (readonly [key: string, shape: TypeShape])[] {
  if ("of" in list) return [["[]", list.of]];
  const items = list.items.map((item, index) => [`[${index}]`, item] as const);
  return list.rest ? [...items, ["[]", list.rest]] : items;
}

function membersOf(object: ObjectShape): (readonly [key: string, shape: TypeShape])[] {
  const cases = "cases" in object ? object.cases : [object];
  return cases.flatMap(({ fields, rest }) => [
    ...fields.map(([name, shape]) => [`.${name}`, shape] as const),
    ...(rest ? [["[…]", rest] as const] : []),
  ]);
}
