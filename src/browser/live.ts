import { eventReader, type GapReason, LIVE_PATH, POLL_PATH, readLines, type ServerEvent } from "../protocol/index.ts";
import { type Asked, ask, type Delivery, deliver, listeners, tell } from "./live-listeners.ts";
import type { PageData } from "./page-data.ts";

interface PollAnswer {
  readonly events: readonly Delivery[];
  readonly gaps: readonly (readonly [channel: string, reason: GapReason])[];
  readonly cursor: string;
  /** It is as long as an answer may be: there may be more at once. */
  readonly more?: true;
}

/** A stream says something as soon as it is open. */
const OPENING_MS = 10_000;
/** The server says something every 20 seconds, and a poll waits for 25: what is silent for so long is dead. */
const SILENCE_MS = 45_000;
/** How long to poll before the stream is tried again. */
const POLLING_MS = 60_000;
/** How often a page asks that gave its stream back: no attempt is later than that. */
const AWAY_MS = 30_000;
/** What the wait after a poll begins with; after a stream, it is what the server says. */
const POLL_RETRY_MS = 500;

/** Counts the runs: an earlier one has no say any more. */
let current = 0;
let attempt: AbortController | undefined;
let watchdog: ReturnType<typeof setTimeout> | undefined;
/** Attempts since something was heard, the one under way among them. */
let failures = 0;
/** When a stream may be tried, by the clock that nobody sets; polls until then. */
let streamAt = 0;
let retryMs = 1_000;
let heardAt = 0;
let isAway = false;
let base: string | undefined;

/** Asks anew, for what is listened to now. Several changes in one go are one request. */
export async function restart(): Promise<void> {
  const run = ++current;
  await pause(0);
  if (run === current) attempt?.abort();
  while (run === current && listeners.size > 0) {
    const isStream = !isAway && performance.now() >= streamAt;
    attempt = new AbortController();
    const { signal } = attempt;
    let isBehind: unknown;
    watch(isStream ? OPENING_MS : SILENCE_MS);
    failures++;
    try {
      isBehind = await (isStream ? stream : poll)(run, signal);
    } catch {
      // However it failed, there is one thing to do: try again.
    }
    if (run !== current) return;
    const isDead = signal.aborted;
    attempt.abort(); // what is left of the answer
    if (isStream && (isDead || failures > 1)) streamAt = performance.now() + POLLING_MS;
    // What is left of a busy channel after half a minute would be more each time, until it is held no longer.
    else await pause(isAway && !isBehind ? AWAY_MS : delay(isStream ? retryMs : POLL_RETRY_MS));
  }
}

/** Asks anew and at once, by a stream whatever failed before. */
export function retry(): void {
  failures = streamAt = 0;
  void restart();
}

/** Gives the stream back, and asks now and then. */
export function goAway(): void {
  isAway = true;
  void restart();
}

/** Streams again after {@link goAway}, and where nothing was heard for so long that the device must have slept. */
export function comeBack(): void {
  if (!isAway && Date.now() - heardAt < SILENCE_MS) return;
  isAway = false;
  retry();
}

/** Lets go of the connection: the page is being left. */
export function leave(): void {
  current++;
  attempt?.abort();
}

async function stream(run: number, signal: AbortSignal): Promise<void> {
  const asked = ask(false);
  const { ok, headers, body } = await request(`${LIVE_PATH}?${asked.query}`, signal);
  // Something else may have answered: a proxy, with a page of its own.
  if (!ok || !headers.get("content-type")?.startsWith("text/event-stream")) return;
  const read = eventReader();
  // Where there is no body, this throws: try again.
  for await (const lines of readLines(body as ReadableStream<Uint8Array>)) {
    if (run !== current) return;
    watch(SILENCE_MS);
    for (const line of lines) {
      const event = read(line);
      if (event) take(asked, event);
    }
    if (listeners.size === 0) return;
  }
}

function take(asked: Asked, { event, id, retry, data: [first, second] }: ServerEvent): void {
  retryMs = Number(retry) || retryMs;
  if (!first) return;
  failures = 0;
  // Only messages and gaps have an id, and both have two lines.
  if (id) deliver(asked, id, event ? [] : [[first, JSON.parse(second as string)]]);
  // The server has no other reasons. Those who are left there are no longer served.
  if (event === "gap" && tell(asked, first, second as GapReason)) void restart();
}

/** @returns whether there may be more at once */
async function poll(run: number, signal: AbortSignal): Promise<unknown> {
  const asked = ask(true);
  const response = await request(`${POLL_PATH}?${asked.query}&wait=${isAway ? 0 : 25}`, signal);
  const { status } = response;
  // A proxy may refuse streams like this; who refuses polls too is the application.
  if (/40[03]|414/.test(`${status}`)) return refused(asked, status);
  const { events, gaps, cursor, more }: PollAnswer = await response.json();
  if (run !== current) return;
  deliver(asked, cursor, events); // another's answer has no cursor, and this throws
  for (const [channel, reason] of gaps) tell(asked, channel, reason);
  failures = 1; // so that one stream that fails is enough to come back here
  return more;
}

/** A mistake, another key, or names too long for one address brings this about: new feeds may help, and nothing else. */
function refused(asked: Asked, status: number): void {
  console.error(`This page's feeds were refused (${status})`);
  for (const channel of asked.channels) tell(asked, channel, "expired");
}

function request(path: string, signal: AbortSignal): Promise<Response> {
  // Read here and not at once: what views are made with is imported by the server, too. It is there.
  base ??= (JSON.parse(document.querySelector("script#tsweb")?.textContent as string) as PageData).base;
  return fetch(base + path, { signal, cache: "no-store" });
}

/** Begins to wait for a sign of life. */
function watch(ms: number): void {
  heardAt = Date.now();
  clearTimeout(watchdog);
  watchdog = setTimeout(() => attempt?.abort(), ms);
}

function delay(ms: number): number {
  return Math.min(AWAY_MS, ms * 2 ** failures) * (1 - Math.random() / 2);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
