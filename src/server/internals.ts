import type { ClientBytes, InboundRequest, OutboundResponse, RequestSender } from "../http/index.ts";
import type { LiveConnection, ShownQuery } from "../live/index.ts";
import type { Logger } from "../logging/index.ts";
import type { MetricsResponse, RequestTarget } from "../observe/index.ts";
import type { AppSessions } from "../session/index.ts";
import type { Development } from "./development.ts";
import type { Inspection } from "./modules.ts";
import type { StaticOutput } from "./static-pages.ts";

/** The members of an `App` that are not public: for the adapters, the CLI and `tsweb/testing`. */
export interface AppInternals {
  /**
   * Handles a request in the form that adapters write: without the Fetch `Request` and `Response`, which on Node cost
   * more than all the rest, and synchronously where nothing has to be awaited. Never throws and never rejects.
   */
  readonly handle: (inbound: InboundRequest) => OutboundResponse | Response | Promise<OutboundResponse | Response>;
  /** Logs a warning when pages are served that were not built: they have no scripts and no style sheets. */
  onMount(): void;
  /**
   * Replaces the data of the build by the data of the development server.
   *
   * @throws Error when browser code calls a function that is not served
   */
  setDevelopment(development: Development): void;
  /** Returns what a request is for, for the log. */
  readonly targetOf: (inbound: InboundRequest) => RequestTarget;
  /** Returns the open event streams and polls, for tools that show them. */
  readonly liveConnections: () => readonly LiveConnection[];
  /** Returns the live queries whose values pages show, for the development server. */
  readonly shownQueries: () => readonly ShownQuery[];
  /** The functions, pages and routes of the application, for tools that describe it. */
  readonly inspection: Inspection;
  readonly log: Logger;
  /** Responds to a request for the metrics with this header `Authorization`; `undefined` without metrics. */
  readonly metrics: ((authorization: string | null) => Promise<MetricsResponse>) | undefined;
  /** Logs that the response to a request could not be sent, as an error of that request. */
  readonly logUnsent: (
    inbound: InboundRequest,
    result: OutboundResponse | Response | undefined,
    error: unknown,
  ) => void;
  /** Returns the count of the memory that the client of a request uses with bodies in flight. */
  readonly clientBytes: (sender: RequestSender) => ClientBytes;
  /**
   * Logs an error after which the process has to end, and passes it to `on_error`. Resolves when that has ended, or after
   * two seconds. Never rejects.
   */
  readonly logCrash: (error: unknown) => Promise<void>;
  /** Renders the static pages, for the build. Rejects for one that cannot be static. */
  readonly renderStaticPages: () => Promise<StaticOutput>;
  /** Loads the optional packages that the start needs. Rejects with a `ConfigError` if one is missing. */
  readonly checkPackages: () => Promise<void>;
  /** The functions `on_start` and `on_stop`, for the development server. */
  readonly hooks: {
    /** Whether the application has `on_stop`. */
    readonly hasStop: boolean;
    /** Runs `on_start` once. Rejects if it fails. */
    start(): Promise<void>;
    /** Waits for `on_error`, then runs `on_stop`, for at most two seconds in all. Never rejects: what fails is logged. */
    stop(): Promise<void>;
  };
  /** The sessions, for simulated clients. */
  readonly sessions: AppSessions;
}

/**
 * The property that holds the internals. A registered symbol: the adapter that mounts an application, or the CLI that
 * loads it, may come from another copy of this package.
 */
const INTERNALS = Symbol.for("tsweb.internals");

/** Attaches internals to an application. They are not a member of its class, so the published types omit them. */
export function attachInternals(app: object, internals: AppInternals): void {
  Object.defineProperty(app, INTERNALS, { value: internals });
}

/** Returns the internals of an `App`, of any copy of this package; `undefined` for any other value. */
export function internalsOf(app: unknown): AppInternals | undefined {
  if (typeof app !== "object" || app === null || !(INTERNALS in app)) return undefined;
  return app[INTERNALS] as AppInternals; // only attachInternals sets this property
}

/**
 * Returns the internals of an `App`, see {@link internalsOf}.
 *
 * @param caller the function that received the value, for the message
 * @throws TypeError for a value that is not an `App`
 */
export function requireInternals(app: unknown, caller: string): AppInternals {
  const internals = internalsOf(app);
  if (internals) return internals;
  throw new TypeError(`${caller} received a value that is not an App. Pass the object that new App({…}) returned.`);
}

/** Returns the functions, pages and routes of an application. */
export function inspect(app: object): Inspection {
  return requireInternals(app, "inspect()").inspection;
}
