import type { Shape } from "../../protocol/index.ts";
import type { ModuleFacts } from "../module.ts";
import type { Imported, Scope } from "../scope.ts";
import type { Node } from "../walk.ts";

/** A module as types are read in it. */
export type TypeModule = Pick<ModuleFacts, "source" | "scopes" | "exports">;

/** A type, and where its names are looked up: it may stand in another module than the function. */
export interface Site {
  readonly node: Node;
  readonly scope: Scope;
  readonly module: TypeModule;
  /** What the type parameters in scope stand for here. */
  readonly given: ReadonlyMap<Node, Site>;
  /** Of a type argument: how many declarations were open where it stands. */
  readonly opened?: number;
}

/** The module that declares an imported type, and its name there. */
export interface Found {
  readonly module: TypeModule;
  readonly local: string;
}

/** Finds an imported type; `undefined` when no module of the project declares it. */
export type Lookup = (from: TypeModule, imported: Imported) => Found | undefined;

/** A declaration that is being read. */
interface Open {
  readonly declared: Node;
  /** How many arrays and objects it stands in. */
  readonly depth: number;
  /** Its index among the shapes that are referred to, once one is. */
  ref?: number;
}

/** How many parts of one parameter's type are read: a type that unfolds without end has one. */
export const MAX_PARTS = 500;

/** What the reading of one function's types shares. */
export interface Reading {
  readonly lookup: Lookup;
  readonly open: Open[];
  /** The types made of themselves, as they are found. */
  readonly shapes: Shape[];
  depth: number;
  /** How many more parts of this parameter are read. */
  left: number;
}

/** Starts to read the types of one function. */
export function startReading(lookup: Lookup): Reading {
  return { lookup, open: [], shapes: [], depth: 0, left: MAX_PARTS };
}

/** Gives a type as it is written, in one line. */
export function textOf({ node, module }: Pick<Site, "node" | "module">): string {
  const text = module.source.code.slice(node.start, node.end).replace(/\s+/g, " ");
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
