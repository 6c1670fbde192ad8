import type { Redirect } from "../http/index.ts";

/** What the function `before` receives. `request` and `session` are available too. */
export interface BeforeInput {
  /**
   * The path without the application's base, percent-decoded. An encoded slash is still `%2F`, so that the path has the
   * segments by which pages and routes are found, and `%252F` is still `%252F`. Outside the base, it is the whole path.
   */
  readonly path: string;
  /**
   * Sets a header of the response, or removes it with `null`. It takes precedence over the options `policy` and
   * `headers`. A header that a route sets itself is kept.
   *
   * @throws Error for a name that tsweb sets for each response, and for a value that is not one line of ASCII text
   */
  set_header(name: string, value: string | null): void;
}

/** The result of {@link Before}: the response, or nothing to let the request pass. */
// biome-ignore lint/suspicious/noConfusingVoidType: a function without `return` lets the request pass
export type BeforeResult = Response | Redirect | null | undefined | void;

/** A function that runs before every request, except those of files of the build and of health checks. */
export type Before = (input: BeforeInput) => BeforeResult | Promise<BeforeResult>;

/** The parameters of a middleware of Express and others, such as `(req, res, next)` or `(context, next)`. */
const MIDDLEWARE =
  /^(?:async\s*)?(?:function\b\s*)?[\w$]*\s*(?<parameters>\(\s*\w+\s*,\s*_?(?:res|response|next)\b[^)]*\))/;

/** @throws TypeError for a function with the parameters of a middleware: it would wait for `next`, or fail at each request */
export function checkBefore(before: Before | undefined): void {
  if (before === undefined || before.length < 2) return;
  const { parameters } = MIDDLEWARE.exec(Function.prototype.toString.call(before))?.groups ?? {};
  if (parameters === undefined) return;
  throw new TypeError(
    `new App: before has the parameters ${parameters.replace(/\s+/g, " ")} of a middleware. It receives one object, ` +
      '{ path, set_header }, and no response: return a Response or redirect("/…") to answer the request, and nothing to let ' +
      'it pass. `request` and `session` of "tsweb" are available in it.',
  );
}

/** Matches the percent sign of a text `%2F`, `%252F` and so on, which was sent percent-encoded. */
const ENCODED_PERCENT = /%(?=(?:25)*2f)/gi;

/**
 * Decodes the segments of a path that was checked with `isValidPath`. An encoded slash stays encoded, and so does the percent sign of a
 * text `%2F`: a rule for one of the two paths never applies to the other.
 */
export function decodePath(path: string): string {
  if (!path.includes("%")) return path;
  return path
    .split("/")
    .map((segment) => decodeURIComponent(segment).replace(ENCODED_PERCENT, "%25").replaceAll("/", "%2F"))
    .join("/");
}
