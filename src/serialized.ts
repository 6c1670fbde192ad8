/**
 * What a value is once it has travelled as JSON: the serialiser's rules, said in types.
 */

type Primitive = string | number | boolean | null;

type IsAny<T> = 0 extends 1 & T ? true : false;

/** Keys whose value does not travel: functions and symbols are left out. */
type Travelling<T, K extends keyof T> = K extends symbol
  ? never
  : [Exclude<T[K], undefined>] extends [never]
    ? never
    : [Exclude<T[K], undefined>] extends [(...args: never[]) => unknown]
      ? never
      : [Exclude<T[K], undefined>] extends [symbol]
        ? never
        : K;

type SerializedItem<T> = [T] extends [undefined] ? null : T extends undefined ? null : Serialized<T>;

type SerializedList<T extends readonly unknown[]> = number extends T["length"]
  ? SerializedItem<T[number]>[]
  : { -readonly [K in keyof T]: SerializedItem<T[K]> };

type SerializedFields<T> = { -readonly [K in keyof T as Travelling<T, K>]: Serialized<T[K]> };

/** Gives what a field or an item of this type is on the other side. */
export type Serialized<T> =
  IsAny<T> extends true
    ? T
    : [T] extends [never]
      ? never
      : unknown extends T
        ? unknown
        : T extends Primitive | undefined
          ? T
          : T extends bigint
            ? string
            : T extends symbol | ((...args: never[]) => unknown)
              ? undefined
              : T extends { to_dict(): infer R }
                ? Serialized<R>
                : T extends Uint8Array | ArrayBuffer
                  ? string
                  : T extends Date
                    ? string
                    : T extends { toJSON(key?: string): infer R }
                      ? Serialized<R>
                      : T extends ReadonlyMap<infer K, infer V>
                        ? Record<K extends string ? K : string, Serialized<V>>
                        : T extends ReadonlySet<infer V>
                          ? SerializedItem<V>[]
                          : T extends readonly unknown[]
                            ? SerializedList<T>
                            : T extends object
                              ? SerializedFields<T>
                              : never;

/** Gives what a whole result is on the other side: nothing at all arrives as `null`. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is what this is about
export type SerializedResult<T> = [T] extends [undefined | void]
  ? null
  : IsAny<T> extends true
    ? T
    : unknown extends T
      ? unknown
      : // biome-ignore lint/suspicious/noConfusingVoidType: as above
        T extends undefined | void
        ? null
        : Serialized<T>;
