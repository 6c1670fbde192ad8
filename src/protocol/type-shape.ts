/**
 * What the compile step reads of a type for strict applications. It is data, so that it can stand in
 * the compiled text, be turned into checking functions once, and be described by OpenAPI.
 */

/** A type of one plain value. */
export type Kind = "int" | "float" | "boolean" | "string";

/** A literal type. */
export type Literal = string | number | boolean;

/**
 * The values of a type: those of every form that is there. It has at most one form of list and one of
 * object, so that a value alone decides which form it is held to.
 */
export interface Shape {
  /** Nothing checks it: the type as it is written, empty where none is. No other form is there then. */
  readonly any?: string;
  readonly kinds?: readonly Kind[];
  readonly literals?: readonly Literal[];
  readonly nullable?: true;
  /** It may be left out. */
  readonly optional?: true;
  readonly list?: ListShape;
  readonly object?: ObjectShape;
  /** A type that is made of itself: the index in the signature's `shapes`. Then no list or object stands beside. */
  readonly ref?: number;
}

/** An array, or a tuple: `rest` is what may follow its items. */
export type ListShape = { readonly of: Shape } | { readonly items: readonly Shape[]; readonly rest?: Shape };

/** One object type, or several that a literal member tells apart. */
export type ObjectShape = Fields | Cases;

/** An object by its members; `rest` is what all other keys hold, as in a record. */
export interface Fields {
  readonly fields: readonly (readonly [name: string, shape: Shape])[];
  readonly rest?: Shape;
}

/** Objects that the member `by` tells apart: its literals differ from case to case. */
export interface Cases {
  readonly by: string;
  readonly cases: readonly Fields[];
}
