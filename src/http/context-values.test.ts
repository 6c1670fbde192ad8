import { expect, it } from "vitest";
import { requestContext, requestContextOf } from "#test/request-context";
import { ContextKey, ContextValues } from "./context-values.ts";

const NAME = new ContextKey<string>();
const SIGN_IN = ContextKey.ofCookies<string | null>();

it("keeps a value of one request apart from those of others", () => {
  const [first, second] = [requestContext(), requestContext()];
  first.set(NAME, "a");
  expect(first.get(NAME)).toBe("a");
  expect(second.get(NAME)).toBeUndefined();
});

it("provides the application's values to each request, which may replace them for itself", () => {
  const provided = new ContextValues().set(NAME, "app").set(SIGN_IN, "app");
  const [first, second] = [1, 2].map(() => requestContextOf(new Request("http://localhost/"), undefined, { provided }));
  first?.set(NAME, "request");
  first?.set(SIGN_IN, null);
  expect([first?.get(NAME), first?.get(SIGN_IN)]).toEqual(["request", null]);
  expect([second?.get(NAME), second?.get(SIGN_IN)]).toEqual(["app", "app"]);
});

it("forgets the values that follow from cookies when the cookies are discarded, until the headers were sent", () => {
  const context = requestContext();
  context.set(NAME, "a");
  context.set(SIGN_IN, "b");
  context.discardChanges();
  expect([context.get(NAME), context.get(SIGN_IN)]).toEqual(["a", undefined]);
  context.set(SIGN_IN, null);
  context.headersSent = true;
  context.discardChanges();
  expect(context.get(SIGN_IN)).toBeNull();
});
