/**
 * What a value is once it has travelled as JSON: the serialiser's rules, said in types.
 */

type Primitive = string | number | boolean | null;

type IsAny<T> = 0 extends 1 & T ? true : false;

/** A function, or a class. */
type Method = ((...args: never[]) => unknown) | (abstract new (...args: never[]) => unknown);

/** Decimal classes, as the serialiser knows them. */
type Decimal = { toFixed(...args: never[]): string } & ({ plus: Method } | { add: Method });

type NumberArray =
  | Int8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array;

/** Keys whose value travels: functions and symbols are left out. */
type Travelling<T, K extends keyof T> = K extends symbol
  ? never
  : IsAny<T[K]> extends true
    ? K
    : [T[K]] extends [Method | symbol | undefined]
      ? never
      : K;

/** What does not travel leaves a `null` in its place in a list. */
type SerializedItem<T> = IsAny<T> extends true ? T : T extends Method | symbol | undefined ? null : Serialized<T>;

type SerializedList<T extends readonly unknown[]> = number extends T["length"]
  ? SerializedItem<T[number]>[]
  : { -readonly [K in keyof T]: SerializedItem<T[K]> };

type SerializedFields<T> = { -readonly [K in keyof T as Travelling<T, K>]: Serialized<T[K]> };

/** What every error has is in no field that is enumerated: an error's text is not sent by accident. */
type SerializedError<T> = { -readonly [K in Exclude<keyof T, keyof Error> as Travelling<T, K>]: Serialized<T[K]> };

/** Primitives in their objects. */
type SerializedBoxed<T> = T extends NumberObject
  ? number
  : T extends StringObject
    ? string
    : T extends BooleanObject
      ? boolean
      : never;

type NumberObject = InstanceType<typeof Number>;
type StringObject = InstanceType<typeof String>;
type BooleanObject = InstanceType<typeof Boolean>;

/** What gives its values one by one, and has none of them as a field. */
type Stepping = { next(...args: never[]): unknown; [Symbol.iterator](): unknown };

type SerializedMap<K, V> = [K] extends [string]
  ? string extends K
    ? Record<string, Serialized<V>>
    : { [Key in K]?: Serialized<V> }
  : Record<string, Serialized<V>>;

/** Gives what a field of this type is on the other side; `never` for what cannot travel: a promise, a stream, an iterator. */
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
            : T extends symbol | Method
              ? undefined
              : T extends { to_dict(): infer R }
                ? Serialized<R>
                : SerializedObject<T>;

type SerializedObject<T> = T extends Uint8Array | ArrayBufferLike | DataView
  ? string
  : T extends { toJSON(key?: string): infer R }
    ? Serialized<R>
    : T extends PromiseLike<unknown> | AsyncIterable<unknown> | Stepping
      ? never
      : T extends ReadonlyMap<infer K, infer V>
        ? SerializedMap<K, V>
        : T extends ReadonlySet<infer V>
          ? SerializedItem<V>[]
          : T extends readonly unknown[]
            ? SerializedList<T>
            : T extends NumberArray
              ? number[]
              : T extends BigInt64Array | BigUint64Array
                ? string[]
                : T extends NumberObject | StringObject | BooleanObject
                  ? SerializedBoxed<T>
                  : T extends Decimal | bigint
                    ? string
                    : T extends Error
                      ? SerializedError<T>
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
        T extends undefined | void | Method | symbol
        ? null
        : Serialized<T>;
