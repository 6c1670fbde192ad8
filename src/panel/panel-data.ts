/**
 * The data that the panel shows. It is written once here, because the panel is an application of its own: it is built with
 * the package, and imports only these types.
 */

/** The kind of field in which the value of a parameter is entered. */
export type InputKind = "text" | "int" | "float" | "boolean" | "choice" | "file" | "files" | "json";

/** A parameter of a server function. */
export interface ParameterInfo {
  readonly name: string;
  /** The source text of its type; empty if it is unknown. */
  readonly type: string;
  readonly optional: boolean;
  readonly nullable: boolean;
  /** The source text of its default. */
  readonly defaultText?: string;
  /** The text of `@param`. */
  readonly description?: string;
  /** How much of its value is checked before the function runs. */
  readonly checked: "full" | "partial" | "none";
  readonly input: InputKind;
  /** The values to choose from, as JSON, for the input `choice`. */
  readonly choices: readonly string[];
  /** Whether its name is one of a secret: the panel hides what is typed. */
  readonly secret: boolean;
}

/** A server function. */
export interface FunctionInfo {
  readonly name: string;
  /** The path of its calls. */
  readonly path: string;
  /** The path of its forms, and of calls with files. */
  readonly formPath: string;
  /** `src/guests.server.ts:12`. */
  readonly location: string;
  readonly description?: string;
  readonly deprecated?: string;
  readonly stream: boolean;
  readonly requiresSignIn: boolean;
  readonly params: readonly ParameterInfo[];
}

/** A page or a route. */
export interface EndpointInfo {
  readonly kind: "page" | "route";
  readonly method: string;
  readonly path: string;
  readonly location: string;
}

/** An error, with its location in the application's own files. */
export interface ErrorInfo {
  /** The name of its class, such as `TypeError`. */
  readonly type: string;
  readonly message: string;
  /** File, line and column; empty when unknown. */
  readonly location: string;
  /** The source lines around the location; empty when unknown. */
  readonly frame: string;
  readonly stack: string;
}

/** The application as its files are now. */
export interface ApplicationInfo {
  readonly title: string;
  readonly functions: readonly FunctionInfo[];
  readonly endpoints: readonly EndpointInfo[];
  /** Why it could not be loaded; functions and endpoints are empty then. */
  readonly error: ErrorInfo | null;
}

/** What a request is for. */
export type RequestKind = "call" | "form" | "page" | "route" | "live" | "other";

/** A request that the application has received. */
export interface RequestEntry {
  /** Counts from 1. */
  readonly id: number;
  readonly requestId: string;
  /** When it arrived, in milliseconds since the Unix epoch. */
  readonly time: number;
  readonly method: string;
  /** The path and the query, without secrets. */
  readonly path: string;
  readonly kind: RequestKind;
  /** The name of the function, or the path of the page or route as it is declared; empty otherwise. */
  readonly target: string;
  /** The arguments of a function that ran, by name, as JSON without secrets. */
  readonly args: readonly (readonly [name: string, json: string])[] | null;
  /** `null` before the response. */
  readonly status: number | null;
  /** The time until the response, or until the end of a stream, in milliseconds; `null` while it is open. */
  readonly durationMs: number | null;
  /** The number of values that a stream has sent; `null` if it is none. */
  readonly values: number | null;
  /** The error code and the message that the caller received. */
  readonly refusal: { readonly code: string; readonly message: string } | null;
  /** The error that was thrown. */
  readonly error: ErrorInfo | null;
  /** Whether a browser has requested the page before its link was clicked. */
  readonly isPrefetch: boolean;
}

/** The requests since a version. */
export interface RequestChanges {
  /** Pass it to the next query. */
  readonly version: number;
  /** Requests with a lower id were removed. */
  readonly firstId: number;
  /** The requests that are new or have changed, oldest first. */
  readonly entries: readonly RequestEntry[];
}

/** An open event stream or poll. */
export interface ConnectionInfo {
  readonly id: number;
  readonly feeds: readonly FeedInfo[];
}

/** One feed of a connection. */
export interface FeedInfo {
  readonly channel: string;
  /** The position up to which the client has received everything. */
  readonly position: string;
  /** Whether a gap was reported: the feed receives nothing more. */
  readonly hasEnded: boolean;
}

/** A message that was published. */
export interface MessageInfo {
  readonly id: number;
  /** In milliseconds since the Unix epoch. */
  readonly time: number;
  readonly channel: string;
  /** Its data as JSON, without secrets. */
  readonly json: string;
  /** The size of its data, in bytes of JSON. */
  readonly bytes: number;
}

/** The live updates of the application. */
export interface LiveInfo {
  readonly connections: readonly ConnectionInfo[];
  /** The latest messages, oldest first. */
  readonly messages: readonly MessageInfo[];
}

/** A part of the data that has changed. */
export type ChangedPart = "application" | "requests" | "live";

/** What the development server provides to the panel. */
export interface PanelHost {
  application(): Promise<ApplicationInfo>;
  /** @param since the version of the last query; 0 for all requests */
  requests(since: number): RequestChanges;
  clearRequests(): void;
  live(): LiveInfo;
  clearMessages(): void;
  /**
   * Returns a CSRF token for a call of the application; `null` if it requires none.
   *
   * @param cookie the header of the client
   */
  csrfToken(cookie: string | undefined): Promise<string | null>;
  /** Calls the function after changes, at most five times a second. It replaces an earlier function. */
  onChange(listener: (parts: readonly ChangedPart[]) => void): void;
}

/** The property of `globalThis` that holds the {@link PanelHost}: the panel has a copy of the package of its own. */
export const PANEL_HOST = "tsweb.panel";
