import { checkMaxBody } from "../bodies/index.ts";
import { type Environment, rejectUnknownOptions, sessionCookieProblem } from "../config/index.ts";
import { checkSecurityOptions, isSitePath, type SecurityOptions } from "../http/index.ts";
import { type AppRate, checkAppRate } from "../limits/index.ts";
import type { Logger } from "../logging/index.ts";
import type { OnError } from "../observe/index.ts";
import { checkLayout, type ErrorPage, type Layout } from "../pages/index.ts";
import { checkTimeLimit } from "../rpc/index.ts";
import type { Authenticate } from "../session/index.ts";
import { type Before, checkBefore } from "./before.ts";
import type { Module } from "./modules.ts";

/** The options of `new App`. `policy` and `headers` change the security headers of every response. */
export interface AppOptions extends SecurityOptions {
  /** The modules whose exports are served: `import * as accounts from "./accounts.server.ts"`. */
  readonly modules: readonly Module[];
  /** The application's name. It is the title of pages without one, and is appended to all others: `Sign in · Accounts`. */
  readonly title?: string;
  /** The language of the pages, as in `<html lang>`. Default: `en`. */
  readonly lang?: string;
  /** The path below which the application is served, such as `/shop`. Default: none. */
  readonly base?: string;
  /** Returns the markup around every page, unless the page has its own layout. It may be async. */
  readonly layout?: Layout;
  /** Renders the page for the statuses 401, 403, 404, 429, 500 and 503. It may be async. Default: a plain page. */
  readonly error?: ErrorPage;
  /**
   * The path of the sign-in page, such as `/sign-in`. A page that requires a signed-in user redirects there, with its own
   * path as the query parameter `next`. Default: it responds with 401 and the error page.
   */
  readonly sign_in?: string;
  /**
   * When browsers request a page before its link is clicked: when the pointer rests on the link, or when it is pressed. `false`:
   * never. The page option `prefetch: false` leaves a page out. Browsers without speculation rules load pages at the click. Default:
   * `hover`.
   *
   * @see docs/navigation.md
   */
  readonly prefetch?: "hover" | "press" | false;
  /**
   * Whether browsers fade from one page to the next, unless their user prefers reduced motion. Names of elements that persist are
   * set by the application's CSS. Default: `false`.
   */
  readonly transitions?: boolean;
  /** The settings of the session. */
  readonly session?: SessionOptions;
  /**
   * Returns the user of a bearer token, such as an API key, as `{ sub, ...claims }`, or `null` for a token that is not valid: of
   * requests with the header `Authorization: Bearer <token>` for functions, forms that scripts send, live updates and routes. On
   * pages, the header has no effect. If it throws, or takes longer than 5 seconds, the response is 503. Default: the header has no
   * effect anywhere.
   *
   * @example authenticate: async (token) => db.user_of_key(hash_token(token))
   */
  readonly authenticate?: Authenticate;
  /**
   * Runs before every request, except those of files of the build and of health checks. It returns the response, or
   * nothing to let the request pass.
   */
  readonly before?: Before;
  /**
   * How many calls a client may make in any span of seconds, from 1 to a year. A signed-in client counts by its user, any
   * other by its address. All clients of one address together may make `per_address` calls, by default 60 times as many.
   * Default: `{ calls: 120, seconds: 60 }`, which the development server does not apply. `false`: no limit.
   */
  readonly rate?: AppRate | false;
  /**
   * The time limit of a call or a run of a query, in seconds, above 0. The option of a function or query takes precedence. Default: no
   * limit, and 30 for queries.
   */
  readonly rpc_timeout?: number;
  /**
   * The maximum size of a request body of functions, forms and routes, in bytes. A function's or route's own `max_body`
   * takes precedence. Default: 1 MiB.
   */
  readonly max_body?: number;
  /**
   * Whether the arguments of calls are also checked for strings, literals, and arrays, records and objects of checked
   * types. By default, only `int`, `float`, `number` and `boolean` are checked. Default: `false`.
   */
  readonly strict?: boolean;
  /**
   * The log: any logger whose methods `info`, `warn` and `error` take fields and a message, such as `pino()`. Default: lines
   * of JSON on standard output in production, and text on standard error in development.
   */
  readonly log?: Logger;
  /**
   * Receives each unexpected error once, with what was running (`kind`), the request and its id, for example to send it to
   * a service. No request waits for it. Default: errors are only logged.
   */
  readonly on_error?: OnError;
  /**
   * Runs once in each process that serves the application, before it accepts connections, and is awaited. It starts what
   * runs beside the requests, such as a timer, a queue or a socket, and `on_stop` ends that. If it fails, the application does
   * not start. The commands `routes`, `openapi`, `check` and `build`, scripts and simulated clients do not run it.
   * `app.start()` runs it on other hosts.
   */
  readonly on_start?: () => unknown;
  /**
   * Runs when the application is closed: after the last request has ended, and before the process exits. For example, it
   * closes a database, or sends what a service of `on_error` has not sent. The process waits for it for at most 2 seconds.
   * `tsweb dev` runs it after each edit too, before it runs the edited modules, and does not wait for requests.
   */
  readonly on_stop?: () => unknown;
  /** The environment variables to read. Default: `process.env`. */
  readonly env?: Environment;
}

/** The settings of the session. */
export interface SessionOptions {
  /**
   * The name of the session cookie, without a prefix, such as `shop_session`: with `WEB_COOKIE_SECURE=1`, the cookie has the
   * prefix `__Host-`. `WEB_SESSION_COOKIE` takes precedence. Default: `web_session`, and in development `web_session_` with
   * the name of the project.
   */
  readonly cookie?: string;
}

const SESSION_OPTIONS: Readonly<Record<keyof SessionOptions, true>> = { cookie: true };

const OPTIONS: Readonly<Record<keyof AppOptions, true>> = {
  modules: true,
  title: true,
  lang: true,
  base: true,
  layout: true,
  error: true,
  sign_in: true,
  prefetch: true,
  transitions: true,
  session: true,
  authenticate: true,
  before: true,
  rate: true,
  rpc_timeout: true,
  max_body: true,
  strict: true,
  policy: true,
  headers: true,
  log: true,
  on_error: true,
  on_start: true,
  on_stop: true,
  env: true,
};

/**
 * Checks the options of `new App`, apart from the modules and the environment.
 *
 * @throws TypeError for an unknown option, and for a value of another type
 * @throws RangeError or Error for a value that an option cannot have
 */
export function checkAppOptions(options: AppOptions): void {
  rejectUnknownOptions(options, OPTIONS, "new App");
  checkAppRate(options.rate);
  checkTimeLimit(options.rpc_timeout, "new App");
  checkMaxBody(options.max_body, "new App");
  checkSecurityOptions(options, "new App");
  checkLayout(options.layout, "new App");
  checkBase(options.base ?? "");
  checkSignIn(options.sign_in);
  checkPrefetch(options.prefetch);
  checkTransitions(options.transitions);
  checkSession(options.session);
  checkFunction("authenticate", options.authenticate);
  checkFunction("before", options.before);
  checkBefore(options.before);
  checkFunction("on_error", options.on_error);
  checkFunction("on_start", options.on_start);
  checkFunction("on_stop", options.on_stop);
}

function checkBase(base: string): void {
  if (base === "" || /^(\/[A-Za-z0-9._~-]+)+$/.test(base)) return;
  throw new Error(
    `new App: base must be a path such as "/shop", without a slash at its end. It is ${JSON.stringify(base)}.`,
  );
}

function checkSignIn(path: unknown): void {
  if (path === undefined || (isSitePath(path) && !path.includes("#"))) return;
  throw new Error(
    `new App: sign_in must be the path of a page, such as "/sign-in", without the base. It is ${JSON.stringify(path)}.`,
  );
}

function checkPrefetch(prefetch: unknown): void {
  if (prefetch === undefined || prefetch === false || prefetch === "hover" || prefetch === "press") return;
  throw new TypeError(
    `new App: prefetch must be "hover", "press" or false. It is ${typeof prefetch === "string" ? JSON.stringify(prefetch) : describeType(prefetch)}.`,
  );
}

function checkTransitions(transitions: unknown): void {
  if (transitions === undefined || typeof transitions === "boolean") return;
  throw new TypeError(`new App: transitions must be true or false. It is ${describeType(transitions)}.`);
}

function checkSession(options: unknown): void {
  if (options === undefined) return;
  rejectUnknownOptions(options, SESSION_OPTIONS, "session of new App");
  const { cookie }: { readonly cookie?: unknown } = options;
  if (cookie === undefined) return;
  if (typeof cookie !== "string") {
    throw new TypeError(
      `new App: session.cookie is ${describeType(cookie)}. It must be the name of the cookie, such as "shop_session".`,
    );
  }
  const invalid = sessionCookieProblem(cookie);
  if (invalid) throw new Error(`new App: session.cookie ${invalid.problem} ${invalid.fix}`);
}

function checkFunction(option: string, value: unknown): void {
  if (value === undefined || typeof value === "function") return;
  throw new TypeError(`new App: ${option} must be a function. It is ${describeType(value)}.`);
}

function describeType(value: unknown): string {
  return value === null ? "null" : `of type ${typeof value}`;
}
