/** What the types of pages promise: compiled with everything else, never run. */

import { is, type Same } from "#test/same";
import { type Page, page, RPCError, redirect } from "../../src/index.ts";

export function params(): void {
  page("/users/:id", (params) => {
    is<Same<typeof params.id, string>>();
    // @ts-expect-error: no such parameter
    return params.name;
  });
  page("/a/:b/c/:d", ({ b, d }) => {
    is<Same<[typeof b, typeof d], [string, string]>>();
    return b + d;
  });
  page("/docs/**:rest", ({ rest }) => {
    is<Same<typeof rest, string>>();
    return rest;
  });
  page("/", (params) => {
    // @ts-expect-error: a path without parameters gives none
    return params.id;
  });
}

export function answers(): void {
  const home = page("/", { title: "Home", lang: "de", layout: false }, async () => null);
  is<Same<typeof home, Page<"/">>>();
  page("/", () => ["text", 1, null, false]);
  page("/", () => redirect("/a"));
  page("/", () => {
    throw new RPCError("not_found", "Gone.");
  });
  // @ts-expect-error: no such option
  page("/", { titel: "Home" }, () => null);
  // @ts-expect-error: a function comes last
  page("/", { title: "Home" });
  // @ts-expect-error: markup or a redirect
  page("/", () => new Response());
  // @ts-expect-error: a page is at a path
  page(() => null);
  // @ts-expect-error: not a code
  new RPCError("gone", "Gone.");
  // @ts-expect-error: a path
  redirect(new URL("http://a.example"));
}
