import type { Serialized } from "./serialized.ts";

/** The maximum size of the data of a page and of the state of a client, in bytes of JSON. */
export const MAX_PRESENCE_BYTES = 1_024;

/** Separates a token from the version of the list that the page has. */
export const PRESENCE_VERSION_SEPARATOR = "~";

/**
 * Somebody who is present in a channel.
 *
 * @template Data what the pages have passed to `presence`
 * @template State what the clients set. Nothing checks it: it may be anything.
 */
export interface Person<Data = unknown, State = unknown> {
  /** Identifies the entry in the list: use it as the `key` of an element. */
  readonly id: string;
  /** The user id; `null` for a signed-out client. */
  readonly user: string | null;
  /** The number of open pages, at least 1. */
  readonly tabs: number;
  /** What the page of the user has passed to `presence` last. The server has signed it. */
  readonly data: Data;
  /** What the client has set last; `null` if nothing. Not checked by anything. */
  readonly state: State | null;
}

declare const state: unique symbol;

/**
 * What `presence` returns, to be passed to a view as a prop: a signed token, and who was present when the page was rendered.
 *
 * @template Data what was passed to `presence`
 * @template State what the views set with `people.set`. A view declares it for its prop: `here: Presence<Data, State>`.
 */
export interface Presence<Data = unknown, State = unknown> {
  readonly channel: string;
  readonly token: string;
  readonly list: readonly Person<Serialized<Data>, never>[];
  /** The version of the list. */
  readonly v: string;
  /** Whether the bus was unreachable, so that the list may be out of date. */
  readonly stale: boolean;
  /** Exists in the type only. No function: props that are functions are type errors. */
  readonly [state]?: State;
}

/**
 * A frame of presence. The server writes it as text in live/, and the browser reads it.
 *
 * @see docs/protocol.md 10.12
 */
export interface PresenceFrame {
  /** The version of the list after this frame. */
  readonly v?: string;
  /** All entries. */
  readonly all?: readonly Person[];
  /** The version of the list to which the differences apply. */
  readonly from?: string;
  /** Entries that are new or have changed. */
  readonly set?: readonly Person[];
  /** The ids of entries that have left. */
  readonly del?: readonly string[];
  /**
   * The bus is unreachable, so the list may be out of date. Without `v`: the page does not receive the list, because its client
   * has too many pages.
   */
  readonly stale?: true;
  /** A token that is no longer valid: its page is not present. The frame is for this page only. */
  readonly ended?: string;
}
