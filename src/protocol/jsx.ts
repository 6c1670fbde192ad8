import type { JSX as PreactJSX, SignalLike, VNode } from "preact";
import type { FormFunction, FormHandle } from "./form.ts";

/** A server function. The error of the type checker about another function shows the name of this type. */
interface FunctionDeclaredWithServer extends FormFunction {
  named: FormFunction["named"];
}

/**
 * A handle of `form(fn)`, whatever the result and the fields of the function. It is not `FormHandle<unknown, never>`: the names of fields are
 * compared as covariant between two instances of `FormHandle`, so that no other handle would be assignable.
 */
type AnyFormHandle = { readonly [K in keyof FormHandle]: K extends "values" | "errors" ? object : FormHandle[K] };

/** A URL, a server function, or the handle of a form. */
type UrlOrServerFunction =
  | string
  | FunctionDeclaredWithServer
  | AnyFormHandle
  | SignalLike<string | undefined>
  | undefined;

interface FormAction {
  /** A URL, a server function, or a handle that `form(fn)` returned. With a function, the other parts of the request
   * are set by tsweb: leave out `method` and `enctype`. */
  action?: UrlOrServerFunction;
}

interface ButtonAction {
  /** As {@link FormAction.action}, for this button only. */
  formAction?: UrlOrServerFunction;
}

interface FieldText {
  /** A list, as it may be in {@link FormHandle.values}, is shown with commas. */
  value?: string | number | readonly string[] | SignalLike<string | number | undefined> | undefined;
  defaultValue?: string | number | readonly string[] | SignalLike<string | number | undefined> | undefined;
}

/** The attributes with some of them replaced; distributive, because the attributes of `<input>` are a union. */
type Replace<Attributes, Replacement> = Attributes extends unknown
  ? Omit<Attributes, keyof Replacement> & Replacement
  : never;

type Elements = PreactJSX.IntrinsicElements;

/**
 * The types of JSX: those of Preact, and server functions as `action` and `formAction`.
 *
 * @see docs/forms.md
 */
export namespace JSX {
  export type Element = PreactJSX.Element;
  export type ElementType = PreactJSX.ElementType;
  export type ElementClass = PreactJSX.ElementClass;
  export type ElementAttributesProperty = PreactJSX.ElementAttributesProperty;
  export type ElementChildrenAttribute = PreactJSX.ElementChildrenAttribute;
  export type IntrinsicAttributes = PreactJSX.IntrinsicAttributes;
  export type LibraryManagedAttributes<Component, Props> = PreactJSX.LibraryManagedAttributes<Component, Props>;
  export interface IntrinsicElements extends Omit<Elements, "form" | "button" | "input" | "textarea" | "select"> {
    form: Replace<Elements["form"], FormAction>;
    button: Replace<Elements["button"], ButtonAction>;
    input: Replace<Elements["input"], ButtonAction & FieldText>;
    textarea: Replace<Elements["textarea"], FieldText>;
    select: Replace<Elements["select"], FieldText>;
  }
}

/**
 * The result of a page or a component: elements, text, nothing, or an array of these. Never a promise. A type of the
 * server's pages and of the browser's views.
 */
// biome-ignore lint/suspicious/noExplicitAny: an element of any component
export type Markup = VNode<any> | string | number | bigint | boolean | null | undefined | readonly Markup[];
