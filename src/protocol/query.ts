/**
 * Live queries and calls that land, as they are on the wire. Used by the server, the browser and `tsweb/testing`.
 *
 * @see docs/protocol.md 10.13
 */
import type { ErrorBody } from "./call.ts";

/** The type of the event with the value of a query. @see docs/protocol.md 10.13 */
export const QUERY_EVENT = "query";

/** The type of the event with the tags of the channels of a request, in the order of its feeds. @see docs/protocol.md 10.13 */
export const TAGS_EVENT = "tags";

/** The maximum number of tokens of queries of a POST request. @see docs/protocol.md 10.4 */
export const MAX_QUERIES = 256;

/** The maximum length of the token of a query, in characters. */
export const MAX_QUERY_TOKEN_CHARS = 1_024;

/** The maximum size of a value, in bytes of JSON. */
export const MAX_QUERY_VALUE_BYTES = 256 * 1_024;

/** The member that identifies the objects of a list, unless the option `key` of `query` names another. */
export const DEFAULT_QUERY_KEY = "id";

/** Separates a token of a query from the version of the value that the page has. */
export const QUERY_VERSION_SEPARATOR = "~";

/**
 * The header of the response to a call: the channels to which the function has published, each with the position of its last
 * message there: `<tag>=<position>,…`. @see docs/protocol.md 3.10
 */
export const PUBLISHED_HEADER = "x-published";

/** The maximum number of channels in {@link PUBLISHED_HEADER}: the last ones. */
export const MAX_PUBLISHED_CHANNELS = 16;

/**
 * What `query.live(…)` returns, to be passed to a view as a prop, or returned by a server function: a signed token, and the
 * value when it was issued.
 *
 * @template Value the value as it arrives, after JSON
 */
export interface LiveHandle<Value = unknown> {
  /** The signed token. */
  readonly query: string;
  /** Identifies the query and its arguments: 16 characters of base64url. */
  readonly id: string;
  readonly value: Value;
  /** The version of the value, see {@link QueryFrame.v}. */
  readonly v: string;
  /** The member that identifies the objects of a list, if it is not `id`. */
  readonly key?: string;
}

/**
 * A part of a patch: the items of the base from the first index up to the second one, or a new item. An item is an object,
 * never an array.
 */
export type QueryPatchPart = readonly [from: number, to: number] | object;

/**
 * A frame of a query. The server writes it as text in live/queries/, and the browser reads it.
 *
 * @see docs/protocol.md 10.13
 */
export interface QueryFrame {
  /**
   * The version of the value after this frame: `<base>[.<number>]_<tag>=<position>,…`, with the tag of each channel of the query, and
   * the position that it had before the run began. Alone, the value is unchanged.
   */
  readonly v?: string;
  /** The whole value. */
  readonly value?: unknown;
  /** In place of the value: the base of the version to which the patch applies, and the parts of the new list. */
  readonly base?: string;
  readonly patch?: readonly QueryPatchPart[];
  /** Why the last run has failed. With `forbidden` and `unauthenticated`, the client may not see the value any more. */
  readonly error?: ErrorBody;
  /** The process lacks the function, or its signature: the build of the process, empty if it was not built. */
  readonly stale?: string;
  /** A token that is no longer valid. The frame is for this page only. */
  readonly ended?: string;
}

/** Throws unless a value is what `live` of a query returns. Browsers call it in development only. */
export function checkLiveHandle(handle: unknown): asserts handle is LiveHandle {
  if (typeof handle === "object" && handle !== null && "query" in handle && "value" in handle) return;
  const received = handle === null ? "null" : Array.isArray(handle) ? "an array" : `a value of type ${typeof handle}`;
  throw new TypeError(
    `live() needs what live() of a query returns, and received ${received}. Call it in the page, and pass its result to the view ` +
      "as a prop: `cards={await cards.live(board)}`. In the view, call live(cards).",
  );
}
