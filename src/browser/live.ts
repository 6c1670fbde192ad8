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
  PUBLISHED_HEADER,
  readLines,
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
import type { Sharing } from "./live-tabs.ts";
import { getPageData } from "./page-data.ts";
import { getNavigation, reload } from "./reload.ts";
import {
  HIDDEN_MS,
  IDLE_TIMEOUT_MS,
  LANDING_MS,
  MAX_DELAY_MS,
  OPEN_TIMEOUT_MS,
  POLL_RETRY_MS,
  POLLING_MS,
} from "./timings.ts";

/** The number of the current {@link run}. Earlier runs stop when it has changed. */
let currentRun = 0;
let restartTimer: ReturnType<typeof setTimeout> | undefined;
/** The last attempt. */
let attempt: AbortController | undefined;
/** The last attempt that was successful. With other tabs, it stays open while the next one is made. */
let open: AbortController | undefined;
let watchdog: ReturnType<typeof setTimeout> | undefined;
/** The number of attempts since the last event, including the current one. */
let failures = 0;
/** The timer that ends polling, while the page polls because event streams do not work. */
let pollingTimer: ReturnType<typeof setTimeout> | 0 = 0;
let retryMs = 1_000;
let lastReceivedAt = 0;
let isReleased: boolean | undefined;
let isWatching: boolean | undefined;
let hideTimer: ReturnType<typeof setTimeout> | undefined;

/** The broadcasts of tags, while this page is open to other tabs. */
let signIns: BroadcastChannel | undefined;
/** The other tabs, once there are any. */
let sharing: Sharing | undefined;
/** Set if this page connects without `sharing`: releases the lock, if it has it. Until one of both is set, the page must not connect. */
let release: (() => void) | undefined;
/** Whether this page never shares: the browser refuses it, the module cannot be loaded, or the leader has too many channels. */
let isAlone: boolean | undefined;

/**
 * Starts a new request for the current listeners, after a time in milliseconds. Several changes until then cause one request. A
 * page that is not the leader posts what it wants.
 */
export function restart(ms?: number): void {
  restartTimer ??= setTimeout(() => {
    restartTimer = undefined;
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
    if (!size) return open?.abort();
    if (size > MAX_FEEDS && sharing?.dismiss()) continue;
    const isStream = !isReleased && !pollingTimer;
    const controller = new AbortController();
    attempt = controller;
    let delayMs: number | undefined;
    startWatchdog(isStream ? OPEN_TIMEOUT_MS : IDLE_TIMEOUT_MS);
    failures++;
    try {
      delayMs = await (isStream ? stream : poll)(request, controller);
    } catch {
      // Any failure is retried below.
    }
    if (run !== currentRun) return;
    const isTimedOut = controller.signal.aborted;
    controller.abort(); // the rest of the response
    open?.abort();
    if (delayMs) failures = 1; // so that one failed event stream is enough to poll again
    if (isStream && (isTimedOut || failures > 1)) {
      pollingTimer = setTimeout(() => {
        pollingTimer = 0;
      }, POLLING_MS);
    } else {
      // The server sends more than the longest delay if it has many connections.
      const base = isStream ? retryMs : POLL_RETRY_MS;
      const ms = delayMs ?? Math.max(base, Math.min(MAX_DELAY_MS, base * 2 ** failures));
      await new Promise((resolve) => setTimeout(resolve, ms * (1 - Math.random() / 2)));
    }
  }
}

/** Starts a new request at once, with an event stream, regardless of earlier failures. */
function retry(): void {
  shareConnection();
  clearTimeout(pollingTimer);
  failures = pollingTimer = 0;
  restart();
}

/** Opens the event stream again after it was released, or if nothing was received for long: after a sleep. */
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

/**
 * Finds out whether the browser has other tabs with live updates, and only then loads `live-tabs.ts`, with which they share a
 * connection, unless this page does so already. Most pages have no other tab, and do without it.
 *
 * The first tab of a sign-in gets the lock for the connection. A tab that does not get it loads the module before it connects: on
 * HTTP/1.1 the connections of six tabs would keep all of them from loading it. The first tab loads it when another one broadcasts its
 * tag, or steals the lock. A tab that cannot load it, for example because the server has another build, has its own connection.
 */
function shareConnection(): void {
  const { locks } = navigator;
  const { base, tag = "" } = getPageData();
  // Browsers have no locks on pages of http:, except those of localhost. A page for all clients does not know its sign-in.
  if (signIns || isAlone || !locks || tag === null) return;
  const own = new BroadcastChannel(`tsweb/1${base}`);
  const name = `${own.name}?${tag}`;
  let loading: Promise<unknown> | undefined;

  function leaveForGood(): void {
    if (own !== signIns) return;
    isAlone = true;
    depart();
    handleVisibility();
    restart();
  }

  function load(): void {
    loading ??= import("./live-tabs.ts").then(({ share }) => {
      if (own === signIns)
        sharing = share([
          restart,
          disconnect,
          leaveForGood,
          listeners,
          extras,
          me,
          getSubscriptions,
          receive,
          isLater,
          own,
          name,
          release,
        ]);
    }, leaveForGood);
  }

  function connect(unlock: () => void): void {
    release = unlock;
    restart();
  }

  signIns = own;
  own.onmessage = load;
  own.postMessage(tag);
  setTimeout(() => own === signIns && !release && !sharing && connect(() => {}), OPEN_TIMEOUT_MS);
  locks
    .request(
      name,
      { ifAvailable: true },
      (lock) => own === signIns && !loading && (lock ? new Promise<void>(connect) : load()),
    )
    .catch(load);
}

/**
 * Closes the connection when the user leaves the page, or the browser freezes it, and stops sharing, so that the page can be kept in
 * the back/forward cache, and other tabs need not wait.
 */
function depart(): void {
  clearTimeout(restartTimer);
  sharing?.leave();
  release?.();
  signIns?.close();
  restartTimer = signIns = sharing = release = undefined;
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
    Promise.race([
      new Promise((resolve) => setTimeout(resolve, LANDING_MS)), // also if the script hangs
      import("./live-landing.ts").then(
        ({ land }) => land([response, isLater, listeners, extras, attempt, sharing]),
        () => {}, // a script of another build
      ),
    ]);
  addEventListener("online", retry);
  addEventListener("pagehide", depart);
  // The event is also fired when the page is first shown.
  addEventListener("pageshow", ({ persisted }) => persisted && retry());
  // Events of the document, before they reach it.
  addEventListener("freeze", depart, true);
  addEventListener("resume", retry, true);
  addEventListener("visibilitychange", () => handleVisibility(HIDDEN_MS), true);
  // A page opened in a background tab has no event stream until it is visible.
  handleVisibility();
}

function handleVisibility(ms?: number): void {
  clearTimeout(hideTimer);
  if (!document.hidden) resumeStream();
  // Over HTTP/1.x a browser has six connections per site, shared by all tabs: six event streams would block every other request.
  // So the page ends its event stream, and polls every 30 seconds without waiting.
  else if (!signIns && getNavigation()?.nextHopProtocol.startsWith("http/1"))
    hideTimer = setTimeout(() => {
      isReleased = true;
      restart();
    }, ms);
}

async function stream(request: LiveRequest, controller: AbortController): Promise<undefined> {
  const { signal } = controller;
  const { ok, headers, body } = await send(LIVE_PATH, request, signal);
  // The response may be from a proxy, with a page of its own.
  if (!ok || !headers.get("content-type")?.startsWith(EVENT_STREAM_TYPE)) return;
  const parse = createEventParser();
  // Without a body, this throws.
  for await (const lines of readLines(body as ReadableStream<Uint8Array>)) {
    if (signal.aborted) return;
    if (attempt === controller) startWatchdog(IDLE_TIMEOUT_MS);
    // If a message cannot be read, no listener has moved: the next request gets all of them again.
    const frames = lines.flatMap((line): Frame | Frame[] => {
      const complete = parse(line);
      if (!complete) return [];
      succeed(request, controller);
      const {
        event,
        id,
        retry = "",
        data: [channel, text, windowMs = ""],
      } = complete;
      retryMs = +retry || retryMs;
      if (!channel) return [];
      failures = 0;
      if (id) {
        return advance(
          request,
          id,
          event === GAP_EVENT
            ? { reason: text as GapReason, windowMs: +windowMs } // the server sends valid reasons only
            : { messages: event ? [] : [JSON.parse(text as string)] },
        );
      }
      // Once the next request is sent, it contains the versions of the displays: they take nothing more from this one.
      try {
        if (attempt === controller) return { channel, event, content: JSON.parse(text as string) };
      } catch {
        // A ping, or an event of a newer server.
      }
      return [];
    });
    share(frames);
  }
}

/**
 * Sends one poll. Returns the delay before the next one, in milliseconds; `undefined` if it has failed.
 *
 * While its code cannot be loaded, event streams are tried, and then it is tried again. If the server has the page, it is another build
 * that has not the code, and the page reloads.
 */
function poll(request: LiveRequest, controller: AbortController): Promise<number | undefined> {
  const { signal } = controller;
  return Promise.race([
    new Promise<never>((_, reject) => {
      signal.onabort = reject; // a request for a script cannot be aborted
    }),
    import("./live-poll.ts").then(
      (module) =>
        module.poll([request, controller, isReleased, send, advance, succeed, share, getSubscriptions, sharing]),
      async () => {
        pollingTimer = 0;
        if ((await fetch(location.href)).ok) reload();
        return undefined;
      },
    ),
  ]);
}

/** The connection of a request is open: it replaces the one before. */
function succeed(request: LiveRequest, controller: AbortController): void {
  if (open === controller) return;
  open?.abort();
  open = controller;
  sharing?.announce(request);
}

/** Passes frames to all tabs. */
function share(frames: readonly Frame[]): void {
  sharing?.passOn(frames);
  if (receive(frames)) restart();
}

/**
 * Moves positions of a request, and returns a frame for each that has moved or has ended.
 *
 * @param id the positions, each as `<index>=<position>`
 * @param content what their channels have received
 * @throws TypeError if the id does not fit the request. The listeners have not moved then
 */
function advance({ subscriptions }: LiveRequest, id: string, content: Partial<Frame>): Frame[] {
  return id.split(",").flatMap((part) => {
    const [index, to = ""] = part.split("=");
    const subscription = subscriptions[index as unknown as number] as Subscription; // the text of an index is a key too; one that is none of the request throws below
    const { position } = subscription;
    const isEnded = to === "-";
    if (!position || !(isEnded || isLater(to, position))) return [];
    const frame = { ...subscription, to, ...content };
    subscription.position = isEnded ? "" : to;
    return frame;
  });
}

function send(path: string, { subscriptions, tokens }: LiveRequest, signal: AbortSignal): Promise<Response> {
  const { base, build = "" } = getPageData();
  return fetch(base + path, {
    method: "POST",
    signal,
    headers: { [BUILD_HEADER]: build, "content-type": JSON_TYPE },
    body: JSON.stringify({
      feeds: subscriptions.map(({ feed }) => feed),
      ...tokens,
      cursor: `${subscriptions.map(({ position }) => position)}`,
    }),
  });
}

/** Aborts the last attempt unless this is called again within `ms` milliseconds. */
function startWatchdog(ms: number): void {
  lastReceivedAt = Date.now();
  clearTimeout(watchdog);
  watchdog = setTimeout(() => attempt?.abort(), ms);
}
