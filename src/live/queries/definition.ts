import { ContextKey } from "../../http/index.ts";
import type { VerifiedSession } from "../../session/index.ts";

/** A query of the application, as `query()` has declared it. */
export interface QueryDefinition {
  /** The name of the export: no other query or server function of the application has it. */
  readonly name: string;
  /** The module that declares it, relative to the project's root. */
  readonly file: string;
  readonly line: number;
  /** The hash of its signature, as of a server function: 6 characters in a build, empty in development. */
  readonly hash: string;
  /** Whether its receivers must be signed in. */
  readonly authRequired: boolean;
  /** The time limit of a run in seconds; `undefined` for that of the application. */
  readonly timeLimit: number | undefined;
  /** The member that identifies the objects of a list: `id`, unless the option `key` names another. */
  readonly key: string;
  /**
   * Returns the arguments of the function, from the text of a token.
   *
   * @throws RPCError `validation_error` for a text that does not match the signature
   */
  parseArguments(text: string): readonly unknown[];
  /**
   * Returns the channels whose messages make a value outdated: 1 to 16 names, sorted, each of them once.
   *
   * @throws TypeError or RangeError for anything else, and what the option `on` throws
   */
  channelsOf(args: readonly unknown[]): readonly string[];
  /** Calls the function, in the context of the caller. Its result is not serialised yet. */
  run(args: readonly unknown[]): unknown;
}

/** A query with arguments: what one shared run computes the value of. */
export interface QueryCall {
  readonly definition: QueryDefinition;
  /** JSON values. */
  readonly args: readonly unknown[];
  /** As {@link QueryDefinition.channelsOf} returns them for the arguments. */
  readonly channels: readonly string[];
  /** Identifies definition, arguments and channels, on the wire too: 16 characters of base64url. */
  readonly id: string;
}

/** A query whose value pages show, as the development server compares it. */
export interface ShownQuery {
  readonly call: QueryCall;
  /** JSON. */
  readonly json: string;
  /** Whether pages still show it, and no message has come after it. */
  isCurrent(): boolean;
  /** Runs the query once more, for nobody: pages keep their value. Resolves with JSON; `null` if the run has failed. */
  read(): Promise<string | null>;
}

/** Returns the value of a query for a page, and its version. */
export interface QueryReader {
  /**
   * Reads the positions of the channels in one turn, then the value.
   *
   * @param session that of the page; `null` for a signed-out client
   * @param signal aborts when the client disconnects: a run that has not begun by then is left out
   * @throws UnavailableError if the bus does not respond
   * @throws what the query throws
   */
  read(
    call: QueryCall,
    session: VerifiedSession | null,
    signal: AbortSignal,
  ): Promise<{ readonly json: string; readonly version: string }>;
}

/** The reader of the application of a request. */
export const QUERY_READER = new ContextKey<QueryReader>();
