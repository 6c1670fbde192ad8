/** The types of forms. This file is compiled with the tests and never run. */

import { assertType, type Equal } from "#test/type-equality";
import { form, type JSX, type RPCError, type ViewFormHandle } from "../../src/browser/index.ts";
import { form as formOfPage, server } from "../../src/index.ts";
import type { JSX as DevelopmentJSX } from "../../src/jsx-dev-runtime.ts";
import type { JSX as ProductionJSX } from "../../src/jsx-runtime.ts";

type Elements = JSX.IntrinsicElements;

const register = server(async (email: string, age: number) => ({ email, at: new Date(age) }));
const numbers = server(function* (to: number) {
  yield to;
});

/** Accepts the attributes of an element, as JSX does. */
function element<Tag extends keyof Elements>(_tag: Tag, _attributes: Elements[Tag]): void {}

export function runtimes(): void {
  assertType<Equal<ProductionJSX.IntrinsicElements, Elements>>();
  assertType<Equal<DevelopmentJSX.IntrinsicElements, Elements>>();
}

export function actions(): void {
  element("form", { action: "/search" });
  element("form", { action: undefined });
  element("form", { action: register });
  element("form", { action: form(register) });
  element("form", { action: form(register, { key: 7 }), onSubmit: (event) => event.preventDefault() });
  element("form", { action: formOfPage(register) });
  element("form", { action: formOfPage(server(async (member: { email: string }) => member.email)) });
  element("button", { formAction: formOfPage(register) });
  element("button", { formAction: register, name: "x", value: "1" });
  element("button", { formAction: "/search" });
  element("input", { type: "submit", formAction: register });
  // @ts-expect-error: a stream cannot be the action of a form
  element("form", { action: numbers });
  // @ts-expect-error: a stream cannot be the action of a button
  element("button", { formAction: numbers });
  // @ts-expect-error: a stream has no form
  form(numbers);
  // @ts-expect-error: a plain function runs nowhere
  element("form", { action: () => {} });
  // @ts-expect-error: neither does one that returns a promise
  element("form", { action: async () => {} });
  // @ts-expect-error: form() takes a server function
  form(async (email: string) => email);
  // @ts-expect-error: an object that is no handle
  element("form", { action: { values: {} } });
  // @ts-expect-error: an unknown option
  form(register, { id: "x" });
  // @ts-expect-error: an unknown attribute
  element("form", { acton: register });
}

export function handles(): void {
  const signUp = form(register);
  assertType<Equal<typeof signUp, ViewFormHandle<{ email: string; at: string }>>>();
  assertType<Equal<typeof signUp.errors.email, string | undefined>>();
  assertType<Equal<typeof signUp.result, { email: string; at: string } | undefined>>();
  element("input", { name: "email", value: signUp.values.email });
  element("textarea", { name: "email", defaultValue: signUp.values.email });
  element("select", { name: "email", value: signUp.values.email });
  element("input", { type: "checkbox", name: "tag", checked: signUp.values.tag?.includes("a") });
  // @ts-expect-error: a text turns the attribute on, whatever it is
  element("button", { disabled: "false" });
  // @ts-expect-error: tsweb alone changes the state
  signUp.pending = true;
}

interface Order {
  email: string;
  /** The amount. */
  quantity?: number;
  address: { street: string; zip: string } | null;
  tags: string[];
  items: { price: number }[];
}
const order = server(({ email, address }: Order) => `${email}${address?.zip}`);
const anything = server((value: unknown) => value);
const record = server((counts: Record<string, number>) => counts);

export function fieldNames(): void {
  const ordering = form(order, { done: ({ result, error, data }) => assertOutcome(result, error, data) });
  assertType<Equal<typeof ordering.errors.email, string | undefined>>();
  assertType<Equal<(typeof ordering.errors)["address.zip"], string | undefined>>();
  assertType<Equal<(typeof ordering.errors)["items.0.price"], string | undefined>>();
  assertType<Equal<(typeof ordering.errors)["order.email"], string | undefined>>();
  assertType<Equal<typeof ordering.values.quantity, string | readonly string[] | undefined>>();
  assertType<Equal<typeof ordering.result, string | undefined>>();
  element("form", { action: ordering });
  // @ts-expect-error: no field has this name
  ordering.errors.emial;
  // @ts-expect-error: no member of the address has this name
  ordering.errors["address.town"];
  // @ts-expect-error: no field has this name
  ordering.values.adress;
  // The names of several parameters, and of values of any type, are not part of the type.
  assertType<Equal<typeof signUpErrors.emial, string | undefined>>();
  assertType<Equal<(typeof anyErrors)["value.x"], string | undefined>>();
  assertType<Equal<(typeof recordErrors)["counts.a"], string | undefined>>();
}
const signUpErrors = form(register).errors;
const anyErrors = form(anything).errors;
const recordErrors = form(record).errors;

function assertOutcome(_result: string | undefined, error: RPCError | undefined, _data: FormData): void {
  assertType<Equal<typeof error, RPCError | undefined>>();
  // @ts-expect-error: the result is that of the function
  form(order, { done: ({ result }) => result?.missing });
}
