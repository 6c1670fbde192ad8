/**
 * What the compile step knows of a server function and hands to `server()` as its last argument.
 * Both sides of the compile step speak through this file, and shape.ts, alone.
 */
import type { Shape } from "./type-shape.ts";

/** How a parameter is coerced; `any` passes as it came. */
export type Coercion = "int" | "float" | "boolean" | "any";

/** One parameter, as its annotation says. */
export interface Parameter {
  readonly name: string;
  readonly type: Coercion;
  /** It may be left out: it has a default, a `?`, or `undefined` in its type. */
  readonly optional?: true;
  /** `null` passes: its type says `| null`. */
  readonly nullable?: true;
  /** Literals of its union with a coerced type (`int | "all"`): they pass as they are. */
  readonly literals?: readonly (string | number | boolean)[];
  /** Its type as it is written, or as its default says; empty where nothing says. */
  readonly annotation: string;
  /** What a strict application checks of it. Absent when that is no more than `type` says. */
  readonly shape?: Shape;
}

/** A server function, as declared. */
export interface Signature {
  /** The name under which its module exports it: the `<name>` of its path. */
  readonly name: string;
  /** The module, relative to the project's root, with forward slashes. */
  readonly file: string;
  readonly line: number;
  /** It is written with `function*`: its values travel one by one. */
  readonly stream?: true;
  /** Its one parameter is a destructured object: the keys are the parameters. */
  readonly keyed?: true;
  readonly params: readonly Parameter[];
  /** The types made of themselves that its parameters' shapes refer to. */
  readonly shapes?: readonly Shape[];
}

/** Where a page was declared. */
export interface PageSource {
  /** The module, relative to the project's root, with forward slashes. */
  readonly file: string;
  readonly line: number;
}

/** Where a view was declared: with these two the browser imports it. */
export interface ViewSource {
  /** The module, relative to the project's root, with forward slashes. */
  readonly file: string;
  /** The name under which the module exports it (`default` included). */
  readonly name: string;
}
