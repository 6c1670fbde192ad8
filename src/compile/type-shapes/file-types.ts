import type { FileCount, TypeShape } from "../../protocol/index.ts";

/** Returns how many files a parameter of a type takes; `undefined` if the type is not that of a file or a list of them. */
export function fileCount(shape: TypeShape): FileCount | undefined {
  if (isOnly("file", shape)) return "one";
  const { list } = shape;
  if (!list || !("of" in list) || !isOnly("list", shape)) return undefined;
  return Object.keys(list.of).join() === "file" ? "many" : undefined;
}

function isOnly(member: "file" | "list", { nullable: _null, optional: _undefined, ...shape }: TypeShape): boolean {
  return Object.keys(shape).join() === member;
}

/** Returns whether a type contains that of a file, at any depth. */
export function containsFile(shape: TypeShape, shapes: readonly TypeShape[], visited = new Set<number>()): boolean {
  const contains = (part: TypeShape | undefined) => part !== undefined && containsFile(part, shapes, visited);
  const { file, list, object, ref } = shape;
  if (file) return true;
  if (list && ("of" in list ? contains(list.of) : list.items.some(contains) || contains(list.rest))) return true;
  const cases = object ? ("cases" in object ? object.cases : [object]) : [];
  if (cases.some(({ fields, rest }) => fields.some(([, field]) => contains(field)) || contains(rest))) return true;
  if (ref === undefined || visited.has(ref)) return false;
  visited.add(ref);
  return contains(shapes[ref]);
}
