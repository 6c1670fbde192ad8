/**
 * The connection of a page for live updates, and the events of the page that change it. Its state is module state, because
 * a page has one connection.
 */
import {
  BUILD_HEADER,
  createEventParser,
  EVENT_STREAM_TYPE,
  GAP_EVENT,
  type GapReason,
  isLater,
  JSON_TYPE,
  LIVE_PATH,
  MAX_FEEDS,
  MAX_QUERY_FEEDS,
  POLL_PATH,
  type PollResponse,
  PUBLISHED_HEADER,
  readLines,
  type ServerSentEvent,
} from "../protocol/index.ts";
import { landing } from "./landing.ts";
import {
  extras,
  type Frame,
  getSubscriptions,
  type LiveRequest,
  listeners,
  me,
  receive,
  type Subscription,
} from "./live-listeners.ts";
import { join, leave, release, sharing, signIns } from "./live-sharing.ts";
import { getPageData } from "./page-data.ts";
import { getNavigation } from "./reload.ts";
import { HIDDEN_MS, IDLE_TIMEOUT_MS, MAX_DELAY_MS, OPEN_TIMEOUT_MS, POLL_RETRY_MS, POLLING_MS } from "./timings.ts";

/** The number of the current {@link run}. Earlier runs stop when it has changed. */
let currentRun = 0;
/** The timer of {@link restart}. */
let restartTimer: ReturnType<typeof setTimeout> | undefined;
/** The last attempt. */
let attempt: AbortController | undefined;
/** The last attempt that was successful. With other tabs, it stays open while the next one is made. */
let open: AbortController | undefined;
let watchdog: ReturnType<typeof setTimeout> | undefined;
/** The number of attempts since the last event, including the current one. */
let failures = 0;
/** When the event stream may be tried, in `performance.now()` milliseconds. Until then, the page polls. */
let streamAt = 0;
let retryMs = 1_000;
let lastReceivedAt = 0;
/** How many feeds the server accepts: fewer if it is of an earlier version. */
let maxFeeds = MAX_FEEDS;
let isReleased = false;
let isWatching = false;
let hideTimer: ReturnType<typeof setTimeout> | undefined;

/**
 * Starts a new request for the current listeners, after a time in milliseconds. Several changes until then cause one request. A
 * page that is not the leader posts what it wants.
 */
export function restart(ms = 0): void {
  restartTimer ??= setTimeout(() => {
    restartTimer = undefined;
    me.version++;
    if (sharing ? !sharing.want() : !signIns || release) void run();
  }, ms);
}

/** Makes requests until nothing is wanted, another run begins, or another tab has become the leader. */
async function run(): Promise<void> {
  const run = ++currentRun;
  if (attempt !== open) attempt?.abort();
  if (open?.signal.aborted === false) failures = 0;
  // Without other tabs, the open one may be the last connection that the browser allows.
  if (!signIns) open?.abort();
  while (run === currentRun && !sharing?.isFollower) {
    const request: LiveRequest = { subscriptions: getSubscriptions(), tokens: {} };
    const size = Math.max(request.subscriptions.length, (sharing ?? extras).complete?.(request) ?? 0);
    if (!size) break;
    if (size > maxFeeds && sharing?.dismiss()) continue;
    const isStream = !isReleased && performance.now() >= streamAt;
    const controller = new AbortController();
    attempt = controller;
    let isBehind: unknown;
    startWatchdog(isStream ? OPEN_TIMEOUT_MS : IDLE_TIMEOUT_MS);
    failures++;
    try {
      isBehind = await (isStream ? stream : poll)(request, controller);
    } catch {
      // Any failure is retried below.
    }
    if (run !== currentRun) return;
    const isTimedOut = controller.signal.aborted;
    controller.abort(); // the rest of the response
    open?.abort();
    const delay = isStream ? retryMs : POLL_RETRY_MS;
    if (isStream && (isTimedOut || failures > 1)) streamAt = performance.now() + POLLING_MS;
    else {
      await sleep(
        // A released page that is behind polls without the long delay: it might never catch up with a busy channel.
        isReleased && !isBehind
          ? MAX_DELAY_MS
          : // The server sends more than the longest delay if it has many connections.
            Math.max(delay, Math.min(MAX_DELAY_MS, delay * 2 ** failures)) * (1 - Math.random() / 2),
      );
    }
  }
  if (run === currentRun) open?.abort();
}

/** Starts a new request at once, with an event stream, regardless of earlier failures. */
function retry(): void {
  shareConnection();
  failures = streamAt = 0;
  restart();
}

/** Ends the event stream, and polls every 30 seconds without waiting. */
function releaseStream(): void {
  isReleased = true;
  restart();
}

/** Opens the event stream again after {@link releaseStream}, or if nothing was received for long: after a sleep. */
function resumeStream(): void {
  if (sharing?.isFollower || (!isReleased && Date.now() - lastReceivedAt < IDLE_TIMEOUT_MS)) return;
  isReleased = false;
  retry();
}

/** Closes the connection. */
function disconnect(): void {
  currentRun++;
  attempt?.abort();
  open?.abort();
}

/** Shares the connection with other tabs, unless this page does so already. */
function shareConnection(): void {
  join(restart, disconnect, connectAlone);
}

/** Connects without other tabs. */
function connectAlone(): void {
  disconnect();
  handleVisibility(0);
  restart();
}

/** Closes the connection when the user leaves the page, or the browser freezes it. */
function depart(): void {
  clearTimeout(restartTimer);
  restartTimer = undefined;
  leave();
  disconnect();
}

/**
 * Connects the live connection to the events of the page: visibility, freezing, back/forward cache, network. Once per page.
 */
export function watchPage(): void {
  shareConnection();
  if (isWatching) return;
  isWatching = true;
  landing.wait = (response) =>
    response.headers.has(PUBLISHED_HEADER) &&
    import("./live-landing.ts").then(
      ({ land }) => land([response, isLater, listeners, extras, attempt, sharing]),
      () => {}, // a script of another build
    );
  addEventListener("online", retry);
  addEventListener("pagehide", depart);
  // The event is also fired when the page is first shown.
  addEventListener("pageshow", ({ persisted }) => persisted && retry());
  document.addEventListener("freeze", depart);
  document.addEventListener("resume", retry);
  document.addEventListener("visibilitychange", () => handleVisibility(HIDDEN_MS));
  // A page opened in a background tab has no event stream until it is visible.
  handleVisibility(0);
}

function handleVisibility(ms: number): void {
  clearTimeout(hideTimer);
  if (!document.hidden) resumeStream();
  // Over HTTP/1.x a browser has six connections per site, shared by all tabs: six event streams would block every other request.
  else if (!signIns && getNavigation()?.nextHopProtocol.startsWith("http/1")) hideTimer = setTimeout(releaseStream, ms);
}

async function stream(request: LiveRequest, controller: AbortController): Promise<void> {
  const { signal } = controller;
  const { ok, headers, body } = await send(LIVE_PATH, request, { signal });
  // The response may be from a proxy, with a page of its own.
  if (!ok || !headers.get("content-type")?.startsWith(EVENT_STREAM_TYPE)) return;
  const parse = createEventParser();
  // Without a body, this throws.
  for await (const lines of readLines(body as ReadableStream<Uint8Array>)) {
    if (signal.aborted) return;
    if (attempt === controller) startWatchdog(IDLE_TIMEOUT_MS);
    const frames: Frame[] = [];
    try {
      for (const line of lines) {
        const event = parse(line);
        if (event && open !== controller) succeed(request, controller);
        // Once the next request is sent, it contains the versions of the displays: they take nothing more from this one.
        if (event) frames.push(...readEvent(request, event, attempt === controller));
      }
    } finally {
      share(frames);
    }
  }
}

/** Reads the frames of an event. */
function readEvent(
  request: LiveRequest,
  { event, id, retry, data: [channel, content = "", windowMs] }: ServerSentEvent,
  isLatest: boolean,
): readonly Frame[] {
  retryMs = Number(retry) || retryMs;
  if (!channel) return [];
  failures = 0;
  // The server sends valid reasons only.
  if (event === GAP_EVENT) {
    return advance(request, id, () => ({ reason: content as GapReason, windowMs: Number(windowMs) || undefined }));
  }
  if (event && !id) return isLatest ? [{ channel, event, content: content && JSON.parse(content) }] : [];
  const messages = event ? [] : [JSON.parse(content)];
  return id ? advance(request, id, (name) => ({ messages: name === channel ? messages : [] })) : [];
}

/** Sends one poll. Returns whether more messages are available at once. */
async function poll(request: LiveRequest, controller: AbortController): Promise<unknown> {
  const response = await send(POLL_PATH, request, { signal: controller.signal, wait: isReleased ? 0 : 25 });
  const { status } = response;
  // For an event stream, these statuses may be a proxy's. For a poll, they are the application's.
  // Only new feeds can help if the key has changed or the URL is too long.
  if (/40[03]|414/.test(`${status}`)) {
    succeed(request, controller);
    const frames = advance(request, `${request.subscriptions.map(() => "-")}`, () => ({ reason: "expired" }));
    share([...frames, { channel: "", event: `${status}` }]);
    return;
  }
  const { events, gaps, cursor, more, ...others }: PollResponse = await response.json();
  if (controller.signal.aborted) return;
  // Throws if the JSON is not the application's: it has no cursor.
  const frames = advance(request, cursor, (name) => {
    const [, reason, windowMs] = gaps.find(([channel]) => channel === name) ?? [];
    const messages = events.filter(([channel]) => channel === name).map(([, message]) => message);
    return { reason, windowMs, messages, isBatch: true };
  });
  succeed(request, controller);
  share([...frames, { channel: "", event: "poll", content: others }]);
  failures = 1; // so that one failed event stream is enough to poll again
  return more;
}

/** The connection of a request is open: it replaces the one before. */
function succeed(request: LiveRequest, controller: AbortController): void {
  if (open !== controller) open?.abort();
  open = controller;
  sharing?.announce(request);
}

/** Passes frames to all tabs. */
function share(frames: readonly Frame[]): void {
  sharing?.passOn(frames);
  if (receive(frames)) restart();
}

/**
 * Moves the positions of a request, and returns a frame for each that has moved or has ended.
 *
 * @param id the positions of all channels, or of some as `<index>=<position>`
 * @param contentOf returns what a channel has received
 * @throws TypeError if the id does not fit the request
 */
function advance(
  { subscriptions }: LiveRequest,
  id: string | undefined,
  contentOf: (channel: string) => Partial<Frame>,
): Frame[] {
  const parts = id ? id.split(",") : [];
  // Checked before anything moves, because a listener that has moved counts as having the message.
  if (!id?.includes("=") && parts.length !== subscriptions.length) throw new TypeError(id);
  return parts.flatMap((part, n) => {
    const [to = "", index = n] = part.split("=").reverse();
    const subscription = subscriptions[+index] as Subscription; // with an index that is none of the request, this throws below
    const { channel, position } = subscription;
    const isEnded = to === "-";
    if (position === "" || !(isEnded || isLater(to, position))) return [];
    const frame = { ...subscription, to, ...contentOf(channel) };
    subscription.position = isEnded ? "" : to;
    return [frame];
  });
}

/** Sends a request. A server of an earlier version accepts no queries, or GET only, with fewer feeds and without tokens. */
async function send(
  path: string,
  { subscriptions, tokens }: LiveRequest,
  { signal, wait }: { readonly signal: AbortSignal; readonly wait?: number },
): Promise<Response> {
  const { base, build = "" } = getPageData();
  const headers = { [BUILD_HEADER]: build, "content-type": JSON_TYPE };
  const feeds = subscriptions.map(({ feed }) => feed);
  const cursor = `${subscriptions.map(({ position }) => position)}`;
  const post = () =>
    fetch(base + path, { method: "POST", signal, headers, body: JSON.stringify({ feeds, ...tokens, cursor, wait }) });
  let response = await post();
  if (response.status === 400 && tokens.queries) {
    tokens.queries = undefined;
    response = await post();
  }
  const isOld = response.status === 405;
  maxFeeds = isOld ? MAX_QUERY_FEEDS : MAX_FEEDS;
  if (!isOld || feeds.length > maxFeeds) return response;
  // Only polls read `wait`.
  const query = `${feeds.map((feed) => `feed=${feed}&`).join("")}after=${cursor}&wait=${wait}`;
  return fetch(`${base}${path}?${query}`, { signal, headers, cache: "no-store" });
}

/** Aborts the last attempt unless this is called again within `ms` milliseconds. */
function startWatchdog(ms: number): void {
  lastReceivedAt = Date.now();
  clearTimeout(watchdog);
  watchdog = setTimeout(() => attempt?.abort(), ms);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
