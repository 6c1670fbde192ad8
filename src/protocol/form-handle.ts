import type { RPCError } from "../errors.ts";
import type { FieldValues } from "./form.ts";

/** What the attributes `action` and `formAction` accept of a server function. A stream has another type. */
export interface FormFunction<R = unknown> {
  // `never` accepts functions with any parameters: their values are the fields of the form.
  (...args: never[]): Promise<R>;
  named(args: Readonly<Record<string, unknown>>): Promise<R>;
}

/** Types that a field of a form has as a whole. */
type FieldType = string | number | bigint | boolean | symbol | null | undefined | Blob | Date;

/** The dotted names of the members of a type, to a depth of five. */
type MemberName<T, Depth extends readonly unknown[] = []> = Depth["length"] extends 5
  ? string
  : T extends FieldType
    ? never
    : T extends readonly (infer Item)[]
      ? `${number}` | `${number}.${MemberName<Item, [...Depth, Item]>}`
      : { [K in keyof T & string]-?: K | `${K}.${MemberName<T[K], [...Depth, K]>}` }[keyof T & string];

/**
 * The names of the fields of a function's form, as far as its type has them: those of the members of its only parameter, which is
 * an object. They follow the name of the parameter if it is not destructured. The names of other parameters are not part of a type.
 */
export type FieldName<F> = F extends (...args: infer A) => unknown
  ? Required<A> extends readonly [infer Only]
    ? 0 extends 1 & Only
      ? string
      : Only extends object
        ? [MemberName<Only>] extends [never]
          ? string
          : MemberName<Only> | `${string}.${MemberName<Only>}`
        : string
    : string
  : string;

/** What was typed, by the names of the fields. */
type ValuesOf<Field extends string> = string extends Field
  ? FieldValues
  : { readonly [F in Field]?: string | readonly string[] };

/** The state of a form, which `form(fn)` returns. Pass it as the `action` of a `<form>`. */
export interface FormHandle<R = unknown, Field extends string = string> {
  /** What was typed into the form that was sent, by field. Never passwords. Empty if it was not sent. */
  readonly values: ValuesOf<Field>;
  /** Why the form was refused. */
  readonly error: RPCError | undefined;
  /** The messages about fields, by the name of the field. */
  readonly errors: Readonly<Record<Field, string | undefined>>;
  /** The result of the function. */
  readonly result: R | undefined;
}

/** The state of a form in a view. A change renders the component again. */
export interface ViewFormHandle<R = unknown, Field extends string = string> extends FormHandle<R, Field> {
  /** Whether the form is being sent. */
  readonly pending: boolean;
  /** The part of the form that has been sent, from 0 to 1. */
  readonly progress: number;
  /** Clears the state, and sets the fields to their defaults. */
  reset(): void;
}

/** The options of `form(fn, options)`. */
export interface FormOptions {
  /** Distinguishes several forms of one function in a page. It is sent with the form. */
  readonly key?: string | number;
}

/** How a form was answered that a view has sent: its result, or why it was refused. */
export interface FormOutcome<R = unknown> {
  /** The result of the function; `undefined` if the form was refused, and for nothing. */
  readonly result: R | undefined;
  readonly error: RPCError | undefined;
  /** What was sent. */
  readonly data: FormData;
}

/** The options of `form(fn, options)` in a view. */
export interface ViewFormOptions<R = unknown> extends FormOptions {
  /** Called in the browser each time that the form was sent and answered, after the state has changed. Not after a reset. */
  readonly done?: (outcome: FormOutcome<R>) => void;
}
