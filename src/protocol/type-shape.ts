/**
 * The parameter and result types of server functions as data. The compile step writes them into compiled modules; the
 * server compiles those of parameters to checks in strict applications, and the OpenAPI document describes both.
 * Property names are part of that format.
 *
 * @see docs/protocol.md 4.3
 */

/** A type of scalar values. */
export type ScalarKind = "int" | "float" | "boolean" | "string";

/** The value of a literal type. */
export type Literal = string | number | boolean;

/** The class of a file that a form or a call uploads. Every `File` is a `Blob`. */
export type FileKind = "File" | "Blob";

/** The form of a string that stands for a value which JSON does not have. */
export type StringFormat = "date-time" | "base64";

/**
 * A type: the union of all members below that are present. It has at most one list and one object type, so that the
 * value alone decides which of them it is checked against. A result is not checked: its further types are
 * `alternatives`.
 */
export interface TypeShape {
  /** Not checked: the source text of the type, empty if there is no annotation. No other member is present then. */
  readonly any?: string;
  readonly kinds?: readonly ScalarKind[];
  readonly literals?: readonly Literal[];
  /** A file. Only in parameters, as the whole type or as the type of the items of the whole list. */
  readonly file?: FileKind;
  readonly nullable?: true;
  /** Whether it may be omitted. */
  readonly optional?: true;
  readonly list?: ListShape;
  readonly object?: ObjectShape;
  /** A recursive type: its index in the signature's `shapes`. `list` and `object` are absent then. */
  readonly ref?: number;
  /** The name of a recursive type, in the signature's `shapes`. */
  readonly name?: string;
  /** In results: the form of the strings. */
  readonly format?: StringFormat;
  /** In results: further types of the union. */
  readonly alternatives?: readonly TypeShape[];
}

/** An array, or a tuple: `rest` is the type of the items after `items`. */
export type ListShape =
  | { readonly of: TypeShape }
  | { readonly items: readonly TypeShape[]; readonly rest?: TypeShape };

/** One object type, or a discriminated union of several. */
export type ObjectShape = ObjectFields | UnionCases;

/** An object type. `rest` is the type of all other keys, as in a record. `name` is that of its declaration, in results. */
export interface ObjectFields {
  readonly name?: string;
  readonly fields: readonly (readonly [name: string, shape: TypeShape])[];
  readonly rest?: TypeShape;
}

/** A discriminated union: the literals of the member `by` differ between the cases. */
export interface UnionCases {
  readonly name?: string;
  readonly by: string;
  readonly cases: readonly ObjectFields[];
}
