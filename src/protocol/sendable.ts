/**
 * The types of values that are the same after JSON, with type errors that are sentences. Used for the props of views and
 * for the parameters of server functions: the code that receives them declares their types itself, so these must be the
 * types that arrive.
 *
 * @see docs/protocol.md 5.1
 */

type IsAny<T> = 0 extends 1 & T ? true : false;

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
