import type { FormValue } from "../bodies/index.ts";

/** The values of a form by the name of their field. */
export type FormFields = ReadonlyMap<string, readonly FormValue[]>;

/** The fields of one name, and those whose names continue it after a dot. */
export interface FieldNode {
  readonly values: FormValue[];
  readonly members: Map<string, FieldNode>;
}

/** The maximum number of segments in the name of a field: arguments of calls nest no deeper. */
const MAX_SEGMENTS = 64;

/** Names that could reach a prototype when application code copies an object (prototype pollution). */
const UNSAFE_NAMES: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Returns the fields of a form as a tree: `address.street` is the member `street` of `address`.
 *
 * Fields with a segment `__proto__`, `constructor` or `prototype`, with an empty segment, or with more than 64 segments
 * are left out. They are never a parameter.
 *
 * @see docs/protocol.md 15.3
 */
export function buildFieldTree(fields: FormFields): FieldNode {
  const root = emptyNode();
  for (const [name, values] of fields) {
    const segments = segmentsOf(name);
    if (!segments) continue;
    let node = root;
    for (const segment of segments) node = memberOf(node, segment);
    node.values.push(...values);
  }
  return root;
}

/** Returns the segments of a field's name, or `null` if it can never be that of a parameter. */
export function segmentsOf(name: string): readonly string[] | null {
  const segments = name.split(".", MAX_SEGMENTS + 1);
  const isValid = segments.length <= MAX_SEGMENTS && segments.every((segment) => segment && !UNSAFE_NAMES.has(segment));
  return isValid ? segments : null;
}

function emptyNode(): FieldNode {
  return { values: [], members: new Map() };
}

function memberOf({ members }: FieldNode, name: string): FieldNode {
  const existing = members.get(name);
  if (existing) return existing;
  const node = emptyNode();
  members.set(name, node);
  return node;
}
