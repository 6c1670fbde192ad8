import type { PageDefinition, RouteDefinition } from "../pages/index.ts";
import type { Definition } from "../rpc/index.ts";

/** What an application is made of, for tools that describe it. */
export interface Inspection {
  readonly title: string;
  /** The prefix of its addresses: empty, or `/prefix`. */
  readonly base: string;
  /** Whether calls are held to all that the compile step read of their parameters' types. */
  readonly strict: boolean;
  readonly functions: readonly Definition[];
  readonly pages: readonly PageDefinition[];
  readonly routes: readonly RouteDefinition[];
  /** The cookie that the session is kept in. */
  readonly sessionCookie: string;
  /** Whether functions with `auth_required` ask for a CSRF token, too. */
  readonly csrf: boolean;
}

/**
 * Where an application keeps what {@link inspect} gives. Registered, so that a tool can read an
 * application that has a copy of the framework of its own.
 */
export const INSPECTION: unique symbol = Symbol.for("tsweb.inspection");

/** What can be inspected: an `App`. */
export interface Inspectable {
  readonly [INSPECTION]: Inspection;
}

/** Gives what an application is made of. */
export function inspect(app: Inspectable): Inspection {
  return app[INSPECTION];
}
