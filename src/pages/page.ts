import type { InferRouteParams } from "rou3";
import { checkKnown } from "../config/index.ts";
import { checkSecurity, type SecurityOptions } from "../http/index.ts";
import type { Markup, PageSource } from "../protocol/index.ts";
import type { Redirect } from "./redirect.ts";

/** What stands around a page's markup. */
export type Layout = (props: { readonly children: Markup }) => Markup;

/** What a page says of itself; `policy` and `headers` go before the application's. */
export interface PageOptions extends SecurityOptions {
  /** Its title; the application's follows it in the window: `Sign in · Accounts`. */
  readonly title?: string;
  /** Its language, where it is not the application's. */
  readonly lang?: string;
  /** Its layout in the place of the application's; `false`: none. */
  readonly layout?: Layout | false;
}

const OPTIONS: Readonly<Record<keyof PageOptions, true>> = {
  title: true,
  lang: true,
  layout: true,
  policy: true,
  headers: true,
};

/** What a page function answers. */
export type PageResult = Markup | Redirect;

/** A page function: it gets the parameters of its path. Only it may be async; markup is synchronous. */
export type PageFunction<Path extends string> = (params: InferRouteParams<Path>) => PageResult | Promise<PageResult>;

/** A page, as its module exports it and the application serves it. */
export interface Page<Path extends string = string> {
  /** The route it was declared with. */
  readonly path: Path;
}

/** What is behind a page. */
export interface PageDefinition {
  readonly kind: "page";
  readonly path: string;
  readonly options: PageOptions;
  readonly run: (params: Record<string, string | undefined>) => PageResult | Promise<PageResult>;
  readonly source: PageSource;
}

const definitions = new WeakMap<object, PageDefinition>();

/** Gives what is behind a `page()` export, or nothing for any other value. */
export function pageOf(value: unknown): PageDefinition | undefined {
  return typeof value === "object" && value !== null ? definitions.get(value) : undefined;
}

/**
 * Marks a page: rendered on the server at each visit.
 *
 * The path may have parameters (`/users/:id`, `/docs/**:rest`); the function gets them, decoded. It
 * answers markup or a `redirect`, and may throw `NotFound` or an `RPCError`.
 *
 * @throws Error when the module was not compiled, the path is not one, an option is none, or a header cannot be said
 * @example export const home = page("/", { title: "Home" }, () => <h1>Hello</h1>);
 */
export function page<const Path extends string>(path: Path, fn: PageFunction<Path>): Page<Path>;
export function page<const Path extends string>(path: Path, options: PageOptions, fn: PageFunction<Path>): Page<Path>;
export function page(path: string, ...rest: readonly unknown[]): Page {
  const [first, second, source] = rest;
  const [options, run] = typeof first === "function" ? [{}, first] : [first, second];
  if (typeof source !== "object" || source === null || typeof run !== "function") {
    throw new Error(
      "page() was called in a module that tsweb has not compiled. Run the application with `tsweb dev` or " +
        '`tsweb build`, a script with `node --import tsweb/register`, and tests with the plugin of "tsweb/vite".',
    );
  }
  if (!path.startsWith("/") || path.startsWith("//")) {
    throw new Error(`page(): the path ${JSON.stringify(path)} must start with one slash.`);
  }
  const where = `page(${JSON.stringify(path)})`;
  checkKnown(options, OPTIONS, where);
  checkSecurity(options as PageOptions, where);
  const exported: Page = Object.freeze({ path });
  // The overloads and the compile step say what the rest is.
  definitions.set(exported, {
    kind: "page",
    path,
    options: options as PageOptions,
    run: run as PageDefinition["run"],
    source: source as PageSource,
  });
  return exported;
}
