/** The types of pages. This file is compiled with the tests and never run. */

import { assertType, type Equal } from "#test/type-equality";
import { type Page, page, RPCError, redirect } from "../../src/index.ts";

export function params(): void {
  page("/users/:id", (params) => {
    assertType<Equal<typeof params.id, string>>();
    // @ts-expect-error: unknown parameter
    return params.name;
  });
  page("/a/:b/c/:d", ({ b, d }) => {
    assertType<Equal<[typeof b, typeof d], [string, string]>>();
    return b + d;
  });
  page("/docs/**:rest", ({ rest }) => {
    assertType<Equal<typeof rest, string>>();
    return rest;
  });
  page("/", (params) => {
    // @ts-expect-error: the path has no parameters
    return params.id;
  });
}

export function pageArguments(): void {
  const home = page("/", { title: "Home", lang: "de", layout: false }, async () => null);
  assertType<Equal<typeof home, Page<"/">>>();
  page("/", () => ["text", 1, null, false]);
  page("/", () => redirect("/a"));
  page("/", () => {
    throw new RPCError("not_found", "No such page.");
  });
  // @ts-expect-error: unknown option
  page("/", { titel: "Home" }, () => null);
  // @ts-expect-error: the function is missing
  page("/", { title: "Home" });
  // @ts-expect-error: a page returns markup or a redirect
  page("/", () => new Response());
  // @ts-expect-error: the path is missing
  page(() => null);
  // @ts-expect-error: unknown code
  new RPCError("gone", "Gone.");
  // @ts-expect-error: redirect takes a string
  redirect(new URL("http://a.example"));
}
