/**
 * The type that a value has after it was serialised and parsed: the rules of `toJson` as types. Used on the server, in
 * the browser and by the client.
 *
 * @see docs/protocol.md 5.1
 */

type Primitive = string | number | boolean | null;

export type IsAny<T> = 0 extends 1 & T ? true : false;

type FunctionOrClass = ((...args: never[]) => unknown) | (abstract new (...args: never[]) => unknown);

/** Decimal classes, as `toJson` recognises them. */
type Decimal = { toFixed(...args: never[]): string } & ({ plus: FunctionOrClass } | { add: FunctionOrClass });

type NumberArray =
  | Int8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array;

/** A key whose value is sent: functions and symbols are omitted. */
type SerializableKey<T, K extends keyof T> = K extends symbol
  ? never
  : IsAny<T[K]> extends true
    ? K
    : [T[K]] extends [FunctionOrClass | symbol | undefined]
      ? never
      : K;

/** In an array, a value that cannot be sent becomes `null`. */
type SerializedItem<T> =
  IsAny<T> extends true ? T : T extends FunctionOrClass | symbol | undefined ? null : Serialized<T>;

type SerializedList<T extends readonly unknown[]> = number extends T["length"]
  ? SerializedItem<T[number]>[]
  : { -readonly [K in keyof T]: SerializedItem<T[K]> };

type SerializedFields<T> = { -readonly [K in keyof T as SerializableKey<T, K>]: Serialized<T[K]> };

/** The fields of `Error` itself are not enumerable: the message and the stack of an error are not sent by accident. */
type SerializedError<T> = { -readonly [K in Exclude<keyof T, keyof Error> as SerializableKey<T, K>]: Serialized<T[K]> };

/** Wrapper objects of primitives. */
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

/** An iterator: it has its values in no field. */
type AnyIterator = { next(...args: never[]): unknown; [Symbol.iterator](): unknown };

type SerializedMap<K, V> = [K] extends [string]
  ? string extends K
    ? Record<string, Serialized<V>>
    : { [Key in K]?: Serialized<V> }
  : Record<string, Serialized<V>>;

/** The type of a value after it was sent; `never` if it cannot be sent: a promise, a stream, an iterator. */
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
            : T extends symbol | FunctionOrClass
              ? undefined
              : T extends { to_dict(): infer R }
                ? Serialized<R>
                : SerializedObject<T>;

type SerializedObject<T> = T extends Uint8Array | ArrayBufferLike | DataView
  ? string
  : T extends { toJSON(key?: string): infer R }
    ? Serialized<R>
    : T extends PromiseLike<unknown> | AsyncIterable<unknown> | AnyIterator
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

/** The type of a whole result after it was sent: `undefined` becomes `null`. */
export type SerializedResult<T> =
  IsAny<T> extends true
    ? T
    : // biome-ignore lint/suspicious/noConfusingVoidType: matches functions that return nothing
      [T] extends [undefined | void]
      ? null
      : unknown extends T
        ? unknown
        : // biome-ignore lint/suspicious/noConfusingVoidType: as above
          T extends undefined | void | FunctionOrClass | symbol
          ? null
          : Serialized<T>;

/**
 * The types of values that are the same after JSON, with type errors that are sentences. Used for the props of views and
 * for the parameters of server functions: the code that receives them declares their types itself, so these must be the
 * types that arrive.
 *
 * @see docs/protocol.md 5.1
 */

/**
 * The type in place of one that does not arrive as it is declared. It is an object, because the compiler's errors widen
 * a string literal to `string`.
 */
export interface NotSendable<Reason extends string> {
  readonly error: Reason;
}

/** The type itself if its values are the same after JSON; otherwise a {@link NotSendable} in its place. */
export type Sendable<T> =
  IsAny<T> extends true
    ? T
    : unknown extends T
      ? T
      : T extends string | number | boolean | null | undefined
        ? T
        : T extends (...args: never[]) => unknown
          ? NotSendable<"A function cannot be sent. Define it where it is used.">
          : T extends bigint
            ? NotSendable<"A bigint arrives as a string. Declare a string, and pass String(value).">
            : T extends object
              ? SendableObject<T>
              : T;

type SendableObject<T> = T extends Date
  ? NotSendable<"A Date arrives as a string. Declare a string, and pass date.toISOString().">
  : T extends ReadonlyMap<unknown, unknown>
    ? NotSendable<"A Map arrives as an object. Declare a Record, and pass Object.fromEntries(map).">
    : T extends ReadonlySet<unknown>
      ? NotSendable<"A Set arrives as an array. Declare an array, and pass [...set].">
      : T extends Uint8Array | ArrayBuffer
        ? NotSendable<"Bytes do not arrive as bytes. Declare a string, and pass them as base64.">
        : T extends { toJSON(...args: never[]): unknown }
          ? NotSendable<"It arrives as the result of its toJSON(). Declare and pass that.">
          : T extends readonly unknown[]
            ? SendableList<T>
            : T extends Blob
              ? NotSendable<"A File or Blob cannot be inside another value. Declare it as a parameter of its own.">
              : T extends FormData
                ? NotSendable<"A FormData cannot be sent. Declare its fields as parameters, and use the function as the action of the form.">
                : T extends PromiseLike<unknown>
                  ? NotSendable<"A promise cannot be sent. Declare its value, and await it before the call.">
                  : { [K in keyof T]: Sendable<T[K]> };

/** Written without a mapped type for lists of any length, so that the items of a recursive type are read lazily. */
type SendableList<T extends readonly unknown[]> = number extends T["length"]
  ? T extends unknown[]
    ? Sendable<T[number]>[]
    : readonly Sendable<T[number]>[]
  : { [K in keyof T]: Sendable<T[K]> };
