/** The type that a parameter is coerced to; `any` is not coerced. @see docs/protocol.md 4.2 */
export type Coercion = "int" | "float" | "boolean" | "any";

/** How many files a parameter takes. */
export type FileCount = "one" | "many";

/** A parameter of a server function. */
export interface Parameter {
  readonly name: string;
  readonly type: Coercion;
  /** Whether it may be omitted: it has a default, a `?`, or `undefined` in its type. */
  readonly optional?: true;
  /** Whether `null` is accepted: its type has `| null`. */
  readonly nullable?: true;
  /** Literals in a union with a coerced type (`int | "all"`): they are accepted as they are. */
  readonly literals?: readonly (string | number | boolean)[];
  /** Whether it takes files, one or a list of them. Then nothing else is accepted, in every application. */
  readonly files?: FileCount;
  /** The source text of its type, or the type of its default; empty if there is neither. */
  readonly annotation: string;
  /** Its type in strict applications. Absent if `type` describes it completely. */
  readonly shape?: TypeShape;
}

/** A server function as it is declared. */
export interface Signature {
  /** The name of the export, and the last segment of the function's path. */
  readonly name: string;
  /** The module, relative to the project's root, with forward slashes. */
  readonly file: string;
  readonly line: number;
  /** Whether it is declared with `function*`: its values are streamed. */
  readonly stream?: true;
  /** Whether its only parameter is a destructured object, whose keys are the parameters. */
  readonly keyed?: true;
  readonly params: readonly Parameter[];
  /** The recursive types that its parameters' shapes refer to. */
  readonly shapes?: readonly TypeShape[];
  /** The hash of what callers depend on. Only in builds. @see docs/protocol.md 3.9 */
  readonly hash?: string;
  /** What only the OpenAPI document uses. Absent in builds, which do not contain it. */
  readonly documentation?: FunctionDocumentation;
}

/** The documentation of a server function: its doc comment and the type of its result. */
export interface FunctionDocumentation {
  /** The first sentence of the doc comment. */
  readonly summary?: string;
  /** The doc comment without its tags. */
  readonly description?: string;
  /** The text of `@deprecated`, possibly empty. */
  readonly deprecated?: string;
  /** The texts of `@param`, by the name of the parameter. */
  readonly params?: Readonly<Record<string, string>>;
  /** The source texts of defaults, by the name of the parameter. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** The text of `@returns`. */
  readonly returns?: string;
  /** The annotated type of the result, or of a stream's values, as JSON. Absent without an annotation. */
  readonly result?: TypeShape;
  /** The recursive types that `result` refers to. */
  readonly resultShapes?: readonly TypeShape[];
}

/** The location at which a page or a route is declared. */
export interface PageSource {
  /** The module, relative to the project's root, with forward slashes. */
  readonly file: string;
  readonly line: number;
}

/** The export that declares a view. The browser imports it by these two values. */
export interface ViewSource {
  /** The module, relative to the project's root, with forward slashes. */
  readonly file: string;
  /** The name of its export (`default` included). */
  readonly name: string;
  /** When it is hydrated; absent for as soon as its script has arrived. */
  readonly hydrate?: "visible" | "idle";
}

/** Returns whether a function takes files: its calls are then forms. */
export function takesFiles({ params }: Pick<Signature, "params">): boolean {
  return params.some(({ files }) => files);
}

/**
 * Returns the key of an endpoint: two endpoints with the same key match the same requests, so that one would never be
 * reached. The names of parameters do not make two paths different.
 *
 * @param method of the request; a page handles GET
 */
export function endpointKey(method: string, path: string): string {
  return `${method} ${path.replace(/:[A-Za-z_]\w*/g, ":")}`;
}

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
type FileKind = "File" | "Blob";

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
