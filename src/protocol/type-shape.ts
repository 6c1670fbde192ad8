/**
 * The parameter types of server functions as data. The compile step writes them into compiled modules; the server
 * compiles them to checks in strict applications, and the OpenAPI document describes them. Property names are part of
 * that format.
 *
 * @see docs/protocol.md 4.3
 */

/** A type of scalar values. */
export type ScalarKind = "int" | "float" | "boolean" | "string";

/** The value of a literal type. */
export type Literal = string | number | boolean;

/**
 * A type: the union of all members below that are present. It has at most one list and one object type, so that the
 * value alone decides which of them it is checked against.
 */
export interface TypeShape {
  /** Not checked: the source text of the type, empty if there is no annotation. No other member is present then. */
  readonly any?: string;
  readonly kinds?: readonly ScalarKind[];
  readonly literals?: readonly Literal[];
  readonly nullable?: true;
  /** Whether it may be omitted. */
  readonly optional?: true;
  readonly list?: ListShape;
  readonly object?: ObjectShape;
  /** A recursive type: its index in the signature's `shapes`. `list` and `object` are absent then. */
  readonly ref?: number;
}

/** An array, or a tuple: `rest` is the type of the items after `items`. */
export type ListShape =
  | { readonly of: TypeShape }
  | { readonly items: readonly TypeShape[]; readonly rest?: TypeShape };

/** One object type, or a discriminated union of several. */
export type ObjectShape = ObjectFields | UnionCases;

/** An object type. `rest` is the type of all other keys, as in a record. */
export interface ObjectFields {
  readonly fields: readonly (readonly [name: string, shape: TypeShape])[];
  readonly rest?: TypeShape;
}

/** A discriminated union: the literals of the member `by` differ between the cases. */
export interface UnionCases {
  readonly by: string;
  readonly cases: readonly ObjectFields[];
}
