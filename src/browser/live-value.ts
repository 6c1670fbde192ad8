import type { Component } from "preact";
import type { RPCError } from "../errors.ts";
import {
  checkLiveHandle,
  errorFromJson,
  type LiveHandle,
  QUERY_EVENT,
  QUERY_VERSION_SEPARATOR,
  type QueryFrame,
} from "../protocol/index.ts";
import { freezeShownValue } from "./dev/live-checks.ts";
import { addDisplay, displays, removeDisplay } from "./displays.ts";
import { on_mount } from "./lifecycle.ts";
import { restart } from "./live.ts";
import type { Display } from "./live-listeners.ts";
import { getPageData } from "./page-data.ts";
import { reload } from "./reload.ts";
import { slot } from "./slot.ts";
import { MAX_STALE_RETRIES, STALE_RETRY_MS } from "./timings.ts";

/** A change that is shown before the server has made it: {@link optimistic}. */
export interface Draft {
  /** `unknown`: the connection was lost before the response. The page shows the change until it knows the value. */
  readonly state: "sent" | "unknown";
}

/** The value of a query, which is kept current: what {@link live} returns. A component that reads it is rendered with each change. */
export interface Live<Value = unknown> {
  /**
   * The value, with the drafts of {@link optimistic}. Do not change it.
   *
   * If the user may not see it any more (`error.code` is `forbidden` or `unauthenticated`), it is taken away: a list is then empty.
   * Anything else is `undefined`, which its type omits, because most queries never refuse; if the component never reads `error`, the
   * page reloads in place of being rendered.
   */
  readonly value: Value;
  /** Why the value may be out of date: the last run of the query has failed. It is tried again. */
  readonly error: RPCError | undefined;
  /** The changes of {@link optimistic} that the value contains, but the server has not confirmed. */
  readonly pending: readonly Draft[];
}

/** What {@link live} returns, with its source. */
export interface LiveList extends Live {
  source: Source;
}

/** The value of one query in this page, for all components that show it. */
export interface Source extends Display {
  /** The handle with which it was created, or that has replaced it while no component showed the value. */
  handle: LiveHandle;
  /** What the server has sent last. */
  value: unknown;
  /** Its version. Empty while the whole value is requested; {@link TAKEN} if the value was taken away. */
  version: string;
  /** What the components show. */
  shown: unknown;
  error?: RPCError | undefined;
  pending: readonly Draft[];
  readonly lists: Set<RenderedList>;
  /** Called when `value`, `version` or `error` has changed. {@link optimistic} replaces it. */
  update(): void;
}

interface RenderedList extends LiveList {
  readonly component: Component;
  /** Whether the application has read `error`, and so shows a value that is taken away. */
  readsError?: boolean;
}

/** In place of a version: none of the server, which then sends the whole value. */
export const TAKEN = "-";

/** The length of the part of a version that identifies the value. */
const BASE_CHARS = 12;

/** All queries that the page has shown, by id: a component that is created later continues with their last value. */
const sources = new Map<string, Source>();

/**
 * Returns the value of a query, and keeps it current while the component is in the page. All components of a page that show the
 * same query share the value, and all tabs of a browser one connection.
 *
 * The value is that of the page at first, so the markup of the server shows it.
 *
 * @param handle the result of `live` of a query on the server, passed to the view as a prop, or returned by a server function. A
 *   later rendering may pass another one.
 * @throws Error if it is called outside the rendering of a component
 * @throws TypeError in development, if `handle` is not what `live` of a query returns
 * @see docs/protocol.md 10.13
 * @example
 * const list = live(cards);
 * return <ul>{list.value.map(({ id, title }) => <li key={id}>{title}</li>)}</ul>;
 */
export function live<Value>(handle: LiveHandle<Value>): Live<Value> {
  if (process.env.NODE_ENV !== "production") checkLiveHandle(handle);
  const source = sourceOf(handle);
  const list = slot("live", (component) => createList(source, component));
  if (list.source !== source) {
    const isMounted = leave(list);
    list.source = source;
    if (isMounted) enter(list);
  }
  on_mount(() => {
    enter(list);
    return () => leave(list);
  });
  return list as Live as Live<Value>; // the value of a source has the type of its handle
}

function createList(source: Source, component: Component): RenderedList {
  return {
    source,
    component,
    get value() {
      if (process.env.NODE_ENV !== "production") freezeShownValue(this.source);
      return this.source.shown;
    },
    get error() {
      this.readsError = true;
      return this.source.error;
    },
    get pending() {
      return this.source.pending;
    },
  };
}

/** Keeps the source of a list current, and renders its component with each change. */
function enter(list: RenderedList): void {
  list.source.lists.add(list);
  if (!displays.has(list.source)) addDisplay(list.source);
}

/** Ends what {@link enter} has begun. @returns whether it had */
function leave(list: RenderedList): boolean {
  const { lists } = list.source;
  const isMounted = lists.delete(list);
  if (!lists.size) removeDisplay(list.source);
  return isMounted;
}

/** Returns the source of a handle. While no component shows its value, another handle is at least as likely to be current. */
function sourceOf(handle: LiveHandle): Source {
  const known = sources.get(handle.id);
  return known && (known.lists.size || known.handle.v === handle.v) ? known : createSource(handle);
}

function createSource(handle: LiveHandle): Source {
  let retries = 0;

  const source: Source = {
    event: QUERY_EVENT,
    member: "queries",
    key: handle.id,
    handle,
    value: handle.value,
    version: handle.v,
    shown: handle.value,
    pending: [],
    lists: new Set(),
    get token() {
      // A process that keeps the value current has no frame that would end an error.
      return handle.query + (source.version && !source.error ? QUERY_VERSION_SEPARATOR + source.version : "");
    },
    update() {
      source.shown = source.value;
      render(source);
    },
    frame({ v, value, base, patch, error, stale, ended }: QueryFrame) {
      if (ended === handle.query) {
        removeDisplay(source); // another tab may have a token that is valid
        reload();
      }
      // A process of an older build is being replaced, as for a call.
      if (stale !== undefined) {
        if (stale > (getPageData().build ?? "") || ++retries > MAX_STALE_RETRIES) reload();
        else setTimeout(restart, STALE_RETRY_MS);
      }
      if (error) {
        source.error = errorFromJson(error);
        if (/^(forb|unau)/.test(error.code)) {
          source.value = Array.isArray(source.value) ? [] : undefined;
          source.version = TAKEN;
        }
      }
      if (v) {
        if (value === undefined && !source.version.startsWith(base ?? v.slice(0, BASE_CHARS))) {
          if (source.version) restart();
          source.version = "";
          return;
        }
        // A patch has the base of the value, so the value is a list.
        if (patch)
          value = patch.flatMap<unknown>((part) =>
            Array.isArray(part) ? (source.value as unknown[]).slice(...part) : part,
          );
        if (value !== undefined) source.value = value;
        source.version = v;
        source.error = undefined;
        retries = 0;
      }
      if (v || error) source.update();
    },
  };
  sources.set(handle.id, source);
  return source;
}

/** Renders all components that show a source. Without a value, those that never read `error` could not: the page reloads. */
export function render({ lists, shown }: Source): void {
  for (const { component, readsError } of lists) {
    if (readsError || shown !== undefined) component.forceUpdate();
    else reload();
  }
}
