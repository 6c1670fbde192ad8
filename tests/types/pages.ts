/** The types of pages. This file is compiled with the tests and never run. */

import { assertType, type Equal } from "#test/type-equality";
import {
  App,
  Body,
  Html,
  type Layout,
  once,
  type Page,
  page,
  type Redirect,
  RPCError,
  redirect,
  route,
  server,
} from "../../src/index.ts";

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

export function layouts(): void {
  const sync: Layout = ({ children }) => children;
  const nested: Layout = async ({ children }) => sync({ children: [children] });
  page("/", { layout: nested }, () => null);
  page("/", { layout: () => redirect("/a") }, () => null);
  new App({ modules: [], layout: async ({ children }) => children, error: async ({ status }) => status });
  // @ts-expect-error: a layout returns markup or a redirect
  page("/", { layout: () => new Response() }, () => null);
  // @ts-expect-error: an error page has no children
  new App({ modules: [], error: ({ children }) => children });
}

export function redirects(next: string | undefined): void {
  assertType<Equal<ReturnType<typeof redirect>, Redirect>>();
  redirect(next, { or: "/" });
  // @ts-expect-error: a path that may be missing needs a fallback
  redirect(next);
  route("POST /a", async () => redirect("/a"));
  const whole = server(() => redirect("/a"));
  assertType<Equal<Awaited<ReturnType<typeof whole>>, null>>();
  const either = server(async (name: string) => (name === "" ? name.length : redirect("/a")));
  assertType<Equal<Awaited<ReturnType<typeof either>>, number | null>>();
}

export function onceKeepsTypes(): void {
  const query = async (id: string, count = 1) => ({ id, count });
  const load = once(query);
  assertType<
    Equal<[Parameters<typeof load>, ReturnType<typeof load>], [Parameters<typeof query>, ReturnType<typeof query>]>
  >();
  // @ts-expect-error: an argument is missing
  load();
}

export function beforeResults(): void {
  new App({ modules: [], before: () => undefined });
  new App({ modules: [], before: async ({ path }) => (path === "/" ? redirect("/a") : null) });
  new App({ modules: [], before: ({ set_header }) => set_header("x-a", "b") });
  // @ts-expect-error: a text is no response
  new App({ modules: [], before: () => "Closed" });
  // @ts-expect-error: true does not let a request pass
  new App({ modules: [], before: () => true });
}

export function documentAttributes(): void {
  Html({ lang: "de", dir: "rtl", class: null, "data-theme": "dark" });
  Body({ className: "a", "aria-busy": false, id: undefined });
  // @ts-expect-error: a number
  Html({ "data-count": 3 });
  // @ts-expect-error: no such direction
  Html({ dir: "up" });
  // @ts-expect-error: an event handler
  Body({ onclick: "alert(1)" });
}
