/** A node of a syntax tree that Vite's parser has made, with members that a test reads whatever the type of the node is. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

/** Returns whether a member of a node, or an item of a list, is a node. */
export function isSyntaxNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value && "end" in value;
}
