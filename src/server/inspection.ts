import type { PageDefinition, RouteDefinition } from "../pages/index.ts";
import type { FunctionDefinition } from "../rpc/index.ts";

/** The functions, pages and routes of an application, for tools that describe it. */
export interface Inspection {
  readonly title: string;
  /** The path below which it is served: empty, or `/shop`. */
  readonly base: string;
  /** The origins of `WEB_ORIGIN`. */
  readonly origins: readonly string[];
  /** Whether arguments are checked for the whole type of their parameters. */
  readonly strict: boolean;
  readonly functions: readonly FunctionDefinition[];
  readonly pages: readonly PageDefinition[];
  readonly routes: readonly RouteDefinition[];
  /** The name of the session cookie. */
  readonly sessionCookie: string;
  /** Whether functions with `auth_required` also require a CSRF token. */
  readonly csrf: boolean;
}
