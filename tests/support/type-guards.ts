/**
 * Guards: what tells at run time whether a value is of a type, and is as a type what it tells.
 */

/** Tells at run time whether a value is of a type. */
export interface Guard<T> extends Predicate {
  /** Only to be compiled: two guards of different types are different. */
  readonly of?: (value: T) => T;
}

/** Tells something of a value. */
export type Predicate = (value: unknown) => boolean;

/** The type that a guard tells. */
export type GuardedType<G> = G extends { readonly of?: (value: never) => infer T } ? T : "no guard";

function guard<T>(test: (value: unknown) => boolean): Guard<T> {
  return test;
}

/** Values of one kind. */
export const string = guard<string>((value) => typeof value === "string");
export const number = guard<number>((value) => typeof value === "number");
export const boolean = guard<boolean>((value) => typeof value === "boolean");
export const nullValue = guard<null>((value) => value === null);
export const unknown = guard<unknown>(() => true);
// biome-ignore lint/suspicious/noExplicitAny: it is one of the rows
export const anything = guard<any>(() => true);

/** One of these. */
export function literal<const T extends readonly unknown[]>(...literals: T): Guard<T[number]> {
  return (value) => literals.includes(value);
}

/** What either guard tells. */
export function either<A, B>(a: Guard<A>, b: Guard<B>): Guard<A | B> {
  return (value) => a(value) || b(value);
}

/** A list of such items. */
export function list<T>(item: Guard<T>): Guard<T[]> {
  return (value) => Array.isArray(value) && value.every(item);
}

/** A list of these items, in this order. */
export function tuple<T extends readonly unknown[]>(
  ...items: { readonly [K in keyof T]: Guard<T[K]> }
): Guard<T extends readonly [...infer Items] ? [...Items] : never> {
  return (value) =>
    Array.isArray(value) && value.length === items.length && items.every((item, index) => item(value[index]));
}

/** An object whose every value is such, whatever their keys. */
export function record<T>(item: Guard<T>): Guard<Record<string, T>> {
  return (value) => isObject(value) && Object.values(value).every(item);
}

/** An object of these members and no others; those of the second may be absent. */
export function object<T extends object, Optional extends object = object>(
  members: { readonly [K in keyof T]: Guard<T[K]> },
  optional?: { readonly [K in keyof Optional]: Guard<Optional[K]> },
): Guard<object extends Optional ? T : { [K in keyof (T & Partial<Optional>)]: (T & Partial<Optional>)[K] }> {
  const all: Readonly<Record<string, Predicate>> = { ...members, ...optional };
  return (value) =>
    isObject(value) &&
    Object.keys(members).every((name) => Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, member]) => all[name]?.(member));
}

/** Tells whether a value is an object and no list. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
