/**
 * What a page with live updates needs only if event streams do not work: polls, also of servers of earlier versions. Loaded with the
 * first one. The page passes what this module uses, as to live-tabs.ts.
 */
import { BUILD_HEADER, MAX_QUERY_FEEDS, POLL_PATH, type PollResponse } from "../protocol/index.ts";
import type { Frame, LiveRequest, Subscription } from "./live-listeners.ts";
import { getPageData } from "./page-data.ts";
import { MAX_DELAY_MS, POLL_PAUSE_MS } from "./timings.ts";

type PollingPage = readonly [
  request: LiveRequest,
  controller: AbortController,
  /** Whether the page is hidden, and has released its event stream. */
  isReleased: boolean | undefined,
  /** Sends a request by POST. */
  send: (path: string, request: LiveRequest, signal: AbortSignal) => Promise<Response>,
  /** Moves positions of a request, and returns a frame for each that has moved. */
  advance: (request: LiveRequest, id: string, content: Partial<Frame>) => Frame[],
  /** Makes the connection of the request that of the page. */
  succeed: (request: LiveRequest, controller: AbortController) => void,
  /** Passes frames to all tabs. */
  share: (frames: readonly Frame[]) => void,
  getSubscriptions: () => readonly Subscription[],
  /** The other tabs. */
  sharing: { dismiss(): boolean } | undefined,
];

/** Sends one poll. Returns the longest delay before the next one, in milliseconds; `undefined` if it has failed. */
export async function poll(page: PollingPage): Promise<number | undefined> {
  const [, , isReleased] = page;
  const isBehind = await takePoll(page).catch(() => undefined);
  // A released page that is behind polls without the long delay: it might never catch up with a busy channel.
  if (isReleased && !isBehind) return MAX_DELAY_MS;
  return isBehind === undefined ? undefined : POLL_PAUSE_MS;
}

/**
 * Sends one poll, and passes on what it has received. Returns whether more messages are available at once; `undefined` if it was refused.
 *
 * @throws if the response is not the application's
 */
async function takePoll(page: PollingPage): Promise<boolean | undefined> {
  const [request, controller, , , advance, succeed, share] = page;
  const { subscriptions } = request;
  const response = await send(page);
  const { status } = response;
  // For an event stream, these statuses may be a proxy's. For a poll, they are the application's.
  // Only new feeds can help if the key has changed or the URL is too long.
  if (/40[03]|414/.test(`${status}`)) {
    succeed(request, controller);
    const frames = subscriptions.flatMap((_, index) => advance(request, `${index}=-`, { reason: "expired" }));
    share([...frames, { channel: "", event: `${status}` }]);
    return undefined;
  }
  const { events, gaps, cursor, more, ...displayed }: PollResponse = await response.json();
  if (controller.signal.aborted) return undefined;
  // Checked before anything moves. JSON that is not the application's has no cursor.
  const positions = cursor ? cursor.split(",") : [];
  if (cursor === undefined || positions.length !== subscriptions.length) throw new TypeError(cursor);
  const frames = positions.flatMap((position, index) => {
    const name = subscriptions[index]?.channel;
    const [, reason, windowMs] = gaps.find(([channel]) => channel === name) ?? [];
    const messages = events.filter(([channel]) => channel === name).map(([, message]) => message);
    return advance(request, `${index}=${position}`, { reason, windowMs, messages, isBatch: true });
  });
  succeed(request, controller);
  // Clients ignore members that they do not know.
  const others = Object.entries(displayed).flatMap(([event, list]) =>
    Array.isArray(list) ? list.map(([channel, content]): Frame => ({ channel, event, content })) : [],
  );
  share([...frames, ...others]);
  return more ?? false;
}

/**
 * Sends a poll by POST, and again if a server of an earlier version refuses it: it accepts no queries, or GET only, with fewer feeds
 * and without tokens. Then the tabs that have joined last connect themselves.
 */
async function send([
  request,
  { signal },
  isReleased,
  post,
  ,
  ,
  ,
  getSubscriptions,
  sharing,
]: PollingPage): Promise<Response> {
  const { subscriptions, tokens } = request;
  tokens.wait = isReleased ? 0 : 25;
  let response = await post(POLL_PATH, request, signal);
  if (response.status === 400 && tokens.queries) {
    tokens.queries = undefined;
    response = await post(POLL_PATH, request, signal);
  }
  if (response.status !== 405) return response;
  if (subscriptions.length > MAX_QUERY_FEEDS) {
    while (getSubscriptions().length > MAX_QUERY_FEEDS && sharing?.dismiss());
    return response;
  }
  const { base, build = "" } = getPageData();
  const feeds = subscriptions.map(({ feed }) => `feed=${feed}&`).join("");
  const cursor = subscriptions.map(({ position }) => position).join();
  return fetch(`${base}${POLL_PATH}?${feeds}after=${cursor}&wait=${tokens.wait}`, {
    signal,
    headers: { [BUILD_HEADER]: build },
    cache: "no-store",
  });
}
