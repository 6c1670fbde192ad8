/** Forms of TypeScript types, for tests of type shapes. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the source text of template types
import { SeededRandom } from "#test/seeded-random";

/** A module that exports types. */
export const IMPORTED = `
  export interface Imported { a: string; when: Date }
  export type Generic<T, U = T> = { t: T; us: U[] };
  export enum Level { low, high }
  export class Money { constructor(public amount: number) {} toJSON() { return "x"; } }
  export interface Node2 { value: number; next?: Node2 }
  export default interface Standard { d: boolean }
  export namespace Inner { export interface Deep { deep: string } }
  export { type Imported as Renamed };
  type Hidden = "h";
  export type { Hidden as Shown };
`;

export const IMPORTS = `
import type { Generic, Imported, Level, Money, Node2, Renamed, Shown } from "./other.ts";
import type Standard from "./other.ts";
import type * as other from "./other.ts";
import { type Inner } from "./other.ts";
`;

export const DECLARATIONS = `
interface User { id: number; name: string; nick?: string; born: Date | null }
interface Admin extends User { roles: ("a" | "b")[] }
interface Narrow extends User { name: "x" }
interface Tree { v: number; kids: Tree[]; up?: Tree | null }
type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
type List<T> = { head: T; tail: List<T> | null };
type Pair<A, B = A> = [A, B];
type Wrapped<T> = { value: T };
type Maybe<T> = T | null | undefined;
type Brand<T, B extends string> = T & { readonly __brand?: B };
type Email = Brand<string, "email">;
type Ping = { pong: Pong | null };
type Pong = { ping: Ping[] };
type Shape = { kind: "circle"; r: number } | { kind: "square"; side: number };
type Loose = { a: string } | { b: number };
type Mapped = { [K in "a" | "b"]: number };
type Conditional<T> = T extends string ? { s: T } : { n: T };
type Keys = keyof User;
type Fn = (a: number) => string;
enum Color { red, green = 5 }
enum Word { yes = "y", no = "n" }
const SIZES = ["s", "m", "l"] as const;
const LIMIT = 5;
class Point { x = 1; y = 2; length() { return 0; } }
class Account { #secret = 1; constructor(public id: string) {} get big() { return this.#secret > 0; } }
namespace Local { export interface Thing { t: string } export type Id = number }
interface Merged { a: string }
interface Merged { b?: number }
interface Callable { (): void; a: string }
interface WithMethods { a: string; f(): void; g: () => void; h?: () => number; get i(): string }
interface Convertible { a: string; toJSON(): number }
interface Dict { [key: string]: number }
interface Thenable { then: string; next: number }
interface Constrained<T extends { a: string } = { a: string }> { t: T }
interface Empty {}
interface Self { me(): this; children: Self[] }
type Rec1 = { a: Rec1 } | null;
type MaybeSelf = { up: MaybeSelf; n: 1 } | undefined;
type SelfList = { all: SelfList[]; by: Record<string, SelfList> } | undefined | null;
type Optional = { a?: string; b: string | undefined; c?: undefined; d?: string | undefined };
`;

/** Types that are read exactly, or are unknown as a whole or in part. */
export const FORMS: readonly string[] = [
  ...["string", "number", "boolean", "null", "undefined", "void", "unknown", "any", "object", "{}", "bigint"],
  ...[
    "symbol",
    "Date",
    "RegExp",
    "Error",
    "URL",
    "Function",
    "File",
    "Blob",
    "Uint8Array",
    "ArrayBuffer",
    "Float32Array",
  ],
  ...["'a'", "1", "-1", "true", "1n", "`a${string}`", "'a' | 1 | true | null", "`a`", "0.5 | 2", "1 | 2 | 1.5"],
  ...["string[]", "readonly string[]", "Array<number>", "ReadonlyArray<Date>", "(string | null)[]", "undefined[]"],
  ...["[string]", "[a: string, b?: number]", "[...string[], number]", "readonly [1, 2]", "[]"],
  ...["[string?, number?]", "[string | undefined, number]", "[[1], [2]]", "(() => void)[]", "[() => void, symbol]"],
  ...[
    "User",
    "Admin",
    "Narrow",
    "Tree",
    "Json",
    "List<string>",
    "List<User>",
    "Pair<number>",
    "Pair<1, Date>",
    "Email",
  ],
  ...[
    "Ping",
    "Pong",
    "Shape",
    "Loose",
    "Mapped",
    "Conditional<string>",
    "Keys",
    "Fn",
    "Color",
    "Word",
    "Point",
    "Account",
  ],
  ...["Color.red", "Word.yes", "Local.Thing", "Local.Id", "Merged", "Callable", "WithMethods", "Convertible", "Dict"],
  ...[
    "Thenable",
    "Constrained",
    "Constrained<{ a: string; b: 1 }>",
    "Empty",
    "Self",
    "Rec1",
    "MaybeSelf",
    "SelfList",
    "MaybeSelf[]",
    "{ a: MaybeSelf }",
    "Optional",
  ],
  ...["Imported", "Generic<string>", "Generic<Date, 1>", "Level", "Money", "Node2", "Renamed", "Shown", "Standard"],
  ...["other.Imported", "other.Generic<1>", "Inner.Deep", "other.Inner.Deep", 'import("./other.ts").Imported'],
  ...["Maybe<string>", "Maybe<User>[]", "Wrapped<Maybe<Date>>", "Wrapped<Wrapped<string>>", "Wrapped<List<Tree>>"],
  ...[
    "string | Date",
    "Date | null",
    "Date | undefined",
    "User | null",
    "User | string",
    "User | Imported",
    "User[] | string[]",
  ],
  ...["Shape | null", "Shape | string[]", "Tree | Tree[]", "Tree | User", "Loose | null", "Json | undefined"],
  ...[
    "User & { extra: number }",
    "User & Imported",
    "{ a: string } & { a: 'x' }",
    "string & { __brand: 'x' }",
    "string & 'a'",
  ],
  ...[
    "(string | null) & string",
    "(string | null) & (string | null)",
    "(number | undefined) & number",
    "Date & { b: 1 }",
  ],
  ...["Dict & { a: 1 }", "(string | null) & { x?: 1 }", "Shape & { id: number }", "unknown & string", "any & string"],
  ...[
    "Partial<User>",
    "Required<User>",
    "Required<Optional>",
    "Readonly<User>",
    "Pick<User, 'id' | 'name'>",
    "Omit<User, 'id'>",
  ],
  ...["Partial<Shape>", "Omit<Shape, 'kind'>", "Pick<Partial<User>, 'id'>", "Required<Partial<User>>", "Partial<Dict>"],
  ...["Partial<string[]>", "Readonly<string[]>", "Readonly<Shape>", "Partial<Maybe<User>>", "Required<Optional>['a']"],
  ...[
    "Record<string, number>",
    "Record<'a' | 'b', Date>",
    "Record<number, string>",
    "Record<Keys, 1>",
    "Record<string, User | undefined>",
  ],
  ...["Record<string, () => void>", "Record<string, never>", "Partial<Record<'a' | 'b', 1>>", "Record<1 | 2, string>"],
  ...["Record<Color, 1>", "Record<`a${string}`, 1>", "Record<string, unknown>", "Record<'a' | number, 1>"],
  ...["NonNullable<string | null>", "NonNullable<Maybe<User>>", "Exclude<'a' | 'b', 'a'>", "Extract<'a' | 1, string>"],
  ...[
    "Exclude<boolean, true>",
    "Exclude<string | null, null>",
    "Exclude<Shape, { kind: 'circle' }>",
    "Exclude<1 | 2 | undefined, undefined>",
  ],
  ...[
    "Awaited<string>",
    "Awaited<Promise<string>>",
    "ReturnType<Fn>",
    "Parameters<Fn>",
    "Uppercase<'a'>",
    "NoInfer<string>",
  ],
  ...[
    "InstanceType<typeof Point>",
    "ThisType<User>",
    "keyof User",
    "keyof typeof SIZES",
    "typeof SIZES",
    "typeof LIMIT",
  ],
  ...[
    "(typeof SIZES)[number]",
    "User['name']",
    "User['nick']",
    "User['id' | 'name']",
    "Admin['roles'][number]",
    "Dict[string]",
  ],
  ...[
    "(string | string[])[number]",
    "[1, 2][number]",
    "[1, 2][0]",
    "({ length: 'x' } | string)['length']",
    "Partial<User>['id']",
  ],
  ...["string[][number]", "Optional['b']", "Optional['a']", "(User | null) & User", "User['born']", "Shape['kind']"],
  ...[
    "{ a: string; b?: number }",
    "{ readonly a: string }",
    "{ 'a b': 1; 2: 3 }",
    "{ ['x']: string }",
    "{ [key: string]: number; a: 1 }",
  ],
  ...["{ [key: number]: string }", "{ [key: symbol]: string }", "{ [key: `a${string}`]: 1 }", "{ a: undefined }"],
  ...[
    "{ f(): void; a: 1 }",
    "{ f: () => void }",
    "{ f?: () => void; s: symbol }",
    "{ f: (() => void) | string }",
    "{ f: Fn; g: 1 }",
  ],
  ...[
    "{ toJSON: () => string }",
    "{ to_dict(): { a: 1 } }",
    "{ toJSON: string }",
    "{ then: () => void }",
    "{ next: number }",
  ],
  ...[
    "{ toFixed(): string; plus(): void }",
    "{ toJSON?: Fn; a: 1 }",
    "{ new (): User }",
    "{ (): void }",
    "{ get a(): string; set a(v: string) }",
  ],
  ...[
    "Set<string>",
    "Set<Date>",
    "ReadonlySet<User>",
    "Map<string, number>",
    "Map<string, Set<Date>>",
    "Map<1 | 2, string>",
    "Map<'a', Date>",
  ],
  ...[
    "WeakMap<User, 1>",
    "Map<string, undefined>",
    "Set<undefined>",
    "Set<() => void>",
    "ReadonlyMap<string, User | null>",
  ],
  ...[
    "{ a: { b: { c: Date[] }[] } | null }[]",
    "{ x: Tree; y: Tree }",
    "{ x: Json }",
    "[Tree, User?]",
    "Tree[] | null",
  ],
  ...["Buffer", "DataView", "BigInt64Array", "Uint16Array", "Iterable<string>"],
  ...[
    "{ p: Promise<string> }",
    "string extends number ? 1 : 2",
    "{ [K in keyof User]: string }",
    "{ -readonly [K in 'a']?: 1 }",
  ],
  ...["((string))", "(User)", "globalThis.Date"],
];

const LEAVES = [
  ...[
    "string",
    "number",
    "boolean",
    "null",
    "undefined",
    "'a'",
    "'b'",
    "1",
    "2.5",
    "true",
    "Date",
    "User",
    "Admin",
    "Tree",
    "Json",
  ],
  ...[
    "Shape",
    "Loose",
    "Imported",
    "Node2",
    "Color",
    "Word",
    "Point",
    "Fn",
    "unknown",
    "bigint",
    "Optional",
    "WithMethods",
    "Dict",
  ],
];

/** Returns random types, up to three levels deep. The same seed gives the same types. */
export function randomForms(seed: number, count: number): string[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, () => randomForm(random, 3));
}

function randomForm(random: SeededRandom, depth: number): string {
  const [leaf = "string"] = random.sample(LEAVES, 1);
  if (depth === 0) return leaf;
  const type = () => randomForm(random, depth - 1);
  const keys = () =>
    random.sample(["'a'", "'id'", "'name'", "'born'", "'x'", "'kind'"], random.integer(1, 2)).join(" | ");
  const forms: readonly (() => string)[] = [
    () => leaf,
    () => `${type()} | ${type()}`,
    () => `(${type()}) | (${type()}) | null`,
    () => `{ a: ${type()} } & { x: ${type()} }`,
    () => `User & { x: ${type()}; name: string }`,
    () => `(${leaf}) & { __brand?: 'x' }`,
    () => `(${type()})[]`,
    () => `readonly (${type()})[]`,
    () => `[${type()}, (${type()})?]`,
    () => `[${type()}, ...(${type()})[]]`,
    () => `{ a: ${type()}; b?: ${type()} }`,
    () => `{ kind: 'a'; a: ${type()} } | { kind: 'b'; b: ${type()} }`,
    () => `{ a: ${type()} } | { x: ${type()} }`,
    () => `Record<string, ${type()}>`,
    () => `Record<${keys()}, ${type()}>`,
    () => `Partial<${type()}>`,
    () => `Required<${type()}>`,
    () => `Readonly<{ a: ${type()} }>`,
    () => `Pick<${type()}, ${keys()}>`,
    () => `Omit<${type()}, ${keys()}>`,
    () => `NonNullable<string | ${type()}>`,
    () => `(${type()})[${keys()}]`,
    () => `(${type()})[number]`,
    () => `List<${type()}>`,
    () => `Pair<${type()}, ${type()}>`,
    () => `Wrapped<${type()}>`,
    () => `Maybe<${type()}>`,
    () => `Generic<${type()}>`,
    () => `Brand<${type()}, 'x'>`,
    () => `Set<${type()}>`,
    () => `Map<string, ${type()}>`,
    () => `Promise<${type()}>`,
    () => `{ [K in ${keys()}]: ${type()} }`,
    () => `{ [key: string]: ${type()} }`,
  ];
  return (forms[random.integer(0, forms.length - 1)] ?? forms[0])?.() ?? leaf;
}
