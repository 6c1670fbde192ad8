import type { Environment } from "../config/index.ts";
import { rejectUnknownOptions } from "../config/index.ts";
import { checkSecurityOptions, type SecurityOptions } from "../http/index.ts";
import type { ErrorPageProps, Layout } from "../pages/index.ts";
import type { Markup } from "../protocol/index.ts";
import type { Rate } from "../rate-limit/index.ts";
import { checkTimeLimit } from "../rpc/index.ts";
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
  /** A component around the markup of every page, unless the page has its own layout. */
  readonly layout?: Layout;
  /** Renders the page for the statuses 401, 403, 404 and 500. Default: a plain page. */
  readonly error?: (props: ErrorPageProps) => Markup;
  /**
   * The number of calls that a client may make in a span of seconds. Default: 120 in 60 seconds. `false`: no limit. The
   * development server has no limit.
   */
  readonly rate?: Rate | false;
  /** The time limit of a call, in seconds, above 0. A function's own option takes precedence. Default: no limit. */
  readonly rpc_timeout?: number;
  /**
   * Whether the arguments of calls are also checked for strings, literals, and arrays, records and objects of checked
   * types. By default, only `int`, `float`, `number` and `boolean` are checked. Default: `false`.
   */
  readonly strict?: boolean;
  /** The environment variables to read. Default: `process.env`. */
  readonly env?: Environment;
}

const OPTIONS: Readonly<Record<keyof AppOptions, true>> = {
  modules: true,
  title: true,
  lang: true,
  base: true,
  layout: true,
  error: true,
  rate: true,
  rpc_timeout: true,
  strict: true,
  policy: true,
  headers: true,
  env: true,
};

/**
 * Checks the options of `new App`, apart from the modules and the environment.
 *
 * @throws TypeError for an unknown option
 * @throws RangeError or Error for a value that an option cannot have
 */
export function checkAppOptions(options: AppOptions): void {
  rejectUnknownOptions(options, OPTIONS, "new App");
  checkTimeLimit(options.rpc_timeout, "new App");
  checkSecurityOptions(options, "new App");
  checkBase(options.base ?? "");
}

function checkBase(base: string): void {
  if (base === "" || /^(\/[A-Za-z0-9._~-]+)+$/.test(base)) return;
  throw new Error(
    `new App: base must be a path such as "/shop", without a slash at its end. It is ${JSON.stringify(base)}.`,
  );
}
