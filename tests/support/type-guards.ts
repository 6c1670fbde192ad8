/**
 * Type guards that can be composed. Each is a predicate at run time and carries its type at compile time.
 */

/** Returns whether a value is of the type `T`. */
export interface Guard<T> extends Predicate {
  /** Exists only at compile time, so that guards of different types are different types. */
  readonly of?: (value: T) => T;
}

/** Returns whether a value satisfies a condition. */
export type Predicate = (value: unknown) => boolean;

/** The type that a guard checks. */
export type GuardedType<G> = G extends { readonly of?: (value: never) => infer T } ? T : "no guard";

function guard<T>(test: (value: unknown) => boolean): Guard<T> {
  return test;
}

/** Guards of scalar types. */
export const string = guard<string>((value) => typeof value === "string");
export const number = guard<number>((value) => typeof value === "number");
export const boolean = guard<boolean>((value) => typeof value === "boolean");
export const nullValue = guard<null>((value) => value === null);
export const unknown = guard<unknown>(() => true);
// biome-ignore lint/suspicious/noExplicitAny: the guard of the type any
export const anything = guard<any>(() => true);

/** Returns a guard of a union of literals. */
export function literal<const T extends readonly unknown[]>(...literals: T): Guard<T[number]> {
  return (value) => literals.includes(value);
}

/** Returns a guard of a union of two types. */
export function either<A, B>(a: Guard<A>, b: Guard<B>): Guard<A | B> {
  return (value) => a(value) || b(value);
}

/** Returns a guard of an array. */
export function list<T>(item: Guard<T>): Guard<T[]> {
  return (value) => Array.isArray(value) && value.every(item);
}

/** Returns a guard of a tuple. */
export function tuple<T extends readonly unknown[]>(
  ...items: { readonly [K in keyof T]: Guard<T[K]> }
): Guard<T extends readonly [...infer Items] ? [...Items] : never> {
  return (value) =>
    Array.isArray(value) && value.length === items.length && items.every((item, index) => item(value[index]));
}

/** Returns a guard of a record with any keys. */
export function record<T>(item: Guard<T>): Guard<Record<string, T>> {
  return (value) => isObject(value) && Object.values(value).every(item);
}

/** Returns a guard of an object with these members and no others. */
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

/** Returns whether a value is an object and not an array. */
export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
