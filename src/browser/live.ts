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
  LIVE_PATH,
  POLL_PATH,
  type PollResponse,
  readLines,
  type ServerSentEvent,
} from "../protocol/index.ts";
import { buildRequest, deliver, listeners, reportGap, type SubscriptionRequest } from "./live-listeners.ts";
import { getPageData } from "./page-data.ts";
import { getNavigation } from "./reload.ts";
import { HIDDEN_MS, IDLE_TIMEOUT_MS, MAX_DELAY_MS, OPEN_TIMEOUT_MS, POLL_RETRY_MS, POLLING_MS } from "./timings.ts";

/** The number of the current run of {@link restart}. Earlier runs stop when it has changed. */
let currentRun = 0;
let controller: AbortController | undefined;
let watchdog: ReturnType<typeof setTimeout> | undefined;
/** The number of attempts since the last event, including the current one. */
let failures = 0;
/** When the event stream may be tried, in `performance.now()` milliseconds. Until then, the page polls. */
let streamAt = 0;
let retryMs = 1_000;
let lastReceivedAt = 0;
let isReleased = false;
let isWatching = false;
let hideTimer: ReturnType<typeof setTimeout> | undefined;

/** Starts a new request for the current listeners. Several changes in one task cause one request. */
export async function restart(): Promise<void> {
  const run = ++currentRun;
  await sleep(0);
  if (run === currentRun) controller?.abort();
  while (run === currentRun && listeners.size) {
    const isStream = !isReleased && performance.now() >= streamAt;
    controller = new AbortController();
    const { signal } = controller;
    let isBehind: unknown;
    startWatchdog(isStream ? OPEN_TIMEOUT_MS : IDLE_TIMEOUT_MS);
    failures++;
    try {
      isBehind = await (isStream ? stream : poll)(run, signal);
    } catch {
      // Any failure is retried below.
    }
    if (run !== currentRun) return;
    const isTimedOut = signal.aborted;
    controller.abort(); // the rest of the response
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
}

/** Starts a new request at once, with an event stream, regardless of earlier failures. */
function retry(): void {
  failures = streamAt = 0;
  void restart();
}

/** Ends the event stream, and polls every 30 seconds without waiting. */
function releaseStream(): void {
  isReleased = true;
  void restart();
}

/** Opens the event stream again after {@link releaseStream}, or if nothing was received for long: after a sleep. */
function resumeStream(): void {
  if (!isReleased && Date.now() - lastReceivedAt < IDLE_TIMEOUT_MS) return;
  isReleased = false;
  retry();
}

/** Closes the connection when the user leaves the page. */
function disconnect(): void {
  currentRun++;
  controller?.abort();
}

/** Connects the live connection to the events of the page: visibility, back/forward cache, network. Once per page. */
export function watchPage(): void {
  if (isWatching) return;
  isWatching = true;
  addEventListener("online", retry);
  addEventListener("pagehide", disconnect);
  // The event is also fired when the page is first shown.
  addEventListener("pageshow", ({ persisted }) => persisted && retry());
  document.addEventListener("visibilitychange", () => handleVisibility(HIDDEN_MS));
  // A page opened in a background tab has no event stream until it is visible.
  handleVisibility(0);
}

function handleVisibility(ms: number): void {
  clearTimeout(hideTimer);
  if (!document.hidden) resumeStream();
  // Over HTTP/1.x a browser has six connections per site, shared by all tabs: six event streams would block every other request.
  else if (getNavigation()?.nextHopProtocol.startsWith("http/1")) hideTimer = setTimeout(releaseStream, ms);
}

async function stream(run: number, signal: AbortSignal): Promise<void> {
  const request = buildRequest(false);
  const { ok, headers, body } = await fetchLive(`${LIVE_PATH}?${request.query}`, signal);
  // The response may be from a proxy, with a page of its own.
  if (!ok || !headers.get("content-type")?.startsWith(EVENT_STREAM_TYPE)) return;
  const parse = createEventParser();
  // Without a body, this throws.
  for await (const lines of readLines(body as ReadableStream<Uint8Array>)) {
    if (run !== currentRun) return;
    startWatchdog(IDLE_TIMEOUT_MS);
    for (const line of lines) {
      const event = parse(line);
      if (event) handleEvent(request, event);
    }
    if (!listeners.size) return;
  }
}

function handleEvent(
  request: SubscriptionRequest,
  { event, id, retry, data: [channel, content, windowMs] }: ServerSentEvent,
): void {
  retryMs = Number(retry) || retryMs;
  if (!channel) return;
  failures = 0;
  // Only messages and gaps have an id, and both have two lines of data. A gap can have a third one.
  if (id) deliver(request, id, event ? [] : [[channel, JSON.parse(content as string)]]);
  // The server sends valid reasons only. The remaining listeners of the channel need a new request.
  if (event === GAP_EVENT && reportGap(request, [channel, content as GapReason, Number(windowMs) || undefined]))
    void restart();
}

/** Sends one poll. Returns whether more messages are available at once. */
async function poll(run: number, signal: AbortSignal): Promise<unknown> {
  const request = buildRequest(true);
  const response = await fetchLive(`${POLL_PATH}?${request.query}&wait=${isReleased ? 0 : 25}`, signal);
  const { status } = response;
  // For an event stream, these statuses may be a proxy's. For a poll, they are the application's.
  // Only new feeds can help if the key has changed or the URL is too long.
  if (/40[03]|414/.test(`${status}`)) {
    console.error(`Feeds refused (${status})`);
    for (const channel of request.channels) reportGap(request, [channel, "expired"]);
    return;
  }
  const { events, gaps, cursor, more }: PollResponse = await response.json();
  if (run !== currentRun) return;
  deliver(request, cursor, events); // throws if the JSON is not the application's: it has no cursor
  for (const gap of gaps) reportGap(request, gap);
  failures = 1; // so that one failed event stream is enough to poll again
  return more;
}

function fetchLive(path: string, signal: AbortSignal): Promise<Response> {
  const { base, build = "" } = getPageData();
  return fetch(base + path, { signal, cache: "no-store", headers: { [BUILD_HEADER]: build } });
}

/** Aborts the current request unless this is called again within `ms` milliseconds. */
function startWatchdog(ms: number): void {
  lastReceivedAt = Date.now();
  clearTimeout(watchdog);
  watchdog = setTimeout(() => controller?.abort(), ms);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
