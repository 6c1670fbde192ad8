/** The value of a parameter of a path or of the query. */
type HrefValue = string | number;

/** What a link needs for the parameters of a path: those that the path can be without are optional. */
export type HrefParams<Params> = {
  readonly [Name in RequiredName<Params>]: HrefValue;
} & { readonly [Name in Exclude<keyof Params, RequiredName<Params> | "_">]?: HrefValue | undefined };

type RequiredName<Params> = {
  [Name in keyof Params]: undefined extends Params[Name] ? never : Name;
}[keyof Params];

/** The parts of a link after its path. */
export interface HrefOptions {
  /** The parameters of the query, which are encoded. `undefined` and `null` are left out; an array repeats the parameter. */
  readonly query?: Readonly<Record<string, HrefQueryValue | readonly HrefQueryValue[]>>;
  /** The fragment, with or without `#`: `comments`. It is encoded. */
  readonly hash?: string;
}

type HrefQueryValue = string | number | boolean | null | undefined;

/** The arguments of `href`: the parameters may be left out if the path needs none. */
export type HrefArguments<Params> = [RequiredName<Params>] extends [never]
  ? [params?: HrefParams<Params>, options?: HrefOptions]
  : [params: HrefParams<Params>, options?: HrefOptions];

/** Something with an address of its own: a page or a route. */
export interface Linkable<Params> {
  /**
   * Returns its address for links of the application: the path with `base`, with its parameters encoded, then query and hash.
   *
   * @param params the parameters of the path; those of the rest of a path, as in `/docs/**:rest`, may contain slashes
   * @param options the query and the hash, see {@link HrefOptions}
   * @throws TypeError for a parameter that is missing or empty: the address would be that of another page
   * @example <a href={board.href({ id: 7 }, { query: { sort: "date" }, hash: "comments" })}>Board</a>
   */
  href(...args: HrefArguments<Params>): string;
}

type Values = Readonly<Record<string, HrefValue | undefined>>;

/**
 * Returns the address of a page or a route.
 *
 * @param base the base of the application
 * @param pattern its path, as it was declared
 * @throws TypeError as {@link Linkable.href}
 */
export function formatHref(base: string, pattern: string, params: Values = {}, options: HrefOptions = {}): string {
  const query = new URLSearchParams();
  for (const [name, values] of Object.entries(options.query ?? {})) {
    for (const value of [values].flat()) if (value != null) query.append(name, String(value));
  }
  const filled = base + fillPattern(pattern, params, pattern, { next: 0 });
  // The rest of a path may begin with a slash. After that of the path, browsers would read the name of another site.
  const path = filled.replace(/^\/\/+/, (slashes) => `/${"%2F".repeat(slashes.length - 1)}`);
  const hash = options.hash?.replace(/^#/, "");
  return (path || "/") + (query.size ? `?${query}` : "") + (hash ? `#${encode(hash)}` : "");
}

/**
 * The parts of a pattern that are not plain text, as the router reads them: an escaped character, a group, and a parameter, whose
 * slash is left out with it. A constraint contains parentheses at most within parentheses.
 */
const PARTS =
  /\\(.)|{((?:\\.|[^\\}])*)}\??|(\/?)(?:(\*\*:|:)([A-Za-z_]\w*)|(\*\*?)|(?=\())(\((?:\\.|\((?:\\.|[^\\()])*\)|[^\\()])*\))?([?+*]?)/g;

function fillPattern(part: string, params: Values, pattern: string, numbered: { next: number }): string {
  return part.replace(PARTS, (match, ...groups: readonly (string | undefined)[]) => {
    const [escaped, group, slash = "", colon, named, stars, rule, modifier] = groups;
    if (escaped !== undefined) return escaped === "?" ? "%3F" : encodeURI(escaped);
    if (group !== undefined) {
      if (!match.endsWith("?")) return fillPattern(group, params, pattern, numbered);
      return isFilled(group, params, numbered) ? fillPattern(group, params, pattern, numbered) : "";
    }
    const name = named ?? String(numbered.next++);
    const value = params[name] ?? "";
    const isAny = stars !== undefined || rule === "(.*)" || modifier === "*";
    if (value === "" && !isAny && modifier !== "?") {
      throw new TypeError(`href() of ${pattern}: the parameter ${name} is missing or empty. Pass its value.`);
    }
    if (value === "") return "";
    const isRest = isAny || colon === "**:" || modifier === "+";
    return slash + (isRest ? String(value).split("/") : [value]).map(encodeSegment).join("/");
  });
}

/** Returns whether an optional group has parameters, and all of their values are there. */
function isFilled(group: string, params: Values, { next }: { readonly next: number }): boolean {
  const names = [...group.matchAll(PARTS)].flatMap(([, escaped, , , , named]) =>
    escaped === undefined ? [named ?? String(next++)] : [],
  );
  return names.length > 0 && names.every((name) => (params[name] ?? "") !== "");
}

/**
 * Encodes the value of a parameter. Browsers resolve a segment `.` or `..`, also if its dots are encoded: such a value is encoded
 * twice, so that the link leads to nothing, and not to another page.
 */
function encodeSegment(value: HrefValue): string {
  const encoded = encode(String(value));
  return /^\.\.?$/.test(encoded) ? encoded.replaceAll(".", "%252E") : encoded;
}

/** As `encodeURIComponent`, which throws for half of a surrogate pair: a text that a user has entered may be cut anywhere. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\uFFFD"));
}

/**
 * Returns the absolute URL of a text, or `null` if it is none. Not with `URL.canParse`: in Node 20, once V8 has compiled its callers,
 * it refuses hosts with letters such as ü.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
