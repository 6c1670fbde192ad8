/** The check for streaming calls that hidden tabs hold, in development. */
import type { Stream } from "../../protocol/index.ts";
import { getNavigation } from "../reload.ts";
import { reportWarning } from "./report.ts";

/** A tab holds a shared lock of this name for each of its streams while it is hidden, so that each tab can count all of them. */
const LOCK = "tsweb/dev/hidden-stream";
/** One less than the connections that a browser opens to a site on HTTP/1.1. */
const MAX_STREAMS = 5;

/** Observes a stream while it is read, and reports it if hidden tabs then hold five on HTTP/1.1. */
export function checkHiddenStream(name: string, stream: Stream<unknown>): void {
  // Browsers have no locks on pages of http:, except those of localhost. Other programs may run stubs, too.
  if (!globalThis.navigator?.locks || !("hidden" in document)) return;
  const read = stream[Symbol.asyncIterator].bind(stream);
  stream[Symbol.asyncIterator] = async function* () {
    const isOver = new AbortController();
    const holdIfHidden = () => {
      if (document.hidden) void hold(name, isOver.signal).catch(() => undefined); // the page is being left
    };
    document.addEventListener("visibilitychange", holdIfHidden, { signal: isOver.signal });
    holdIfHidden();
    try {
      yield* { [Symbol.asyncIterator]: read };
    } finally {
      isOver.abort();
    }
  };
}

/** Holds a lock until the stream is over or the tab is visible. */
function hold(name: string, isOver: AbortSignal): Promise<unknown> {
  const isReleased = new Promise<void>((resolve) => {
    isOver.addEventListener("abort", () => resolve());
    document.addEventListener("visibilitychange", () => document.hidden || resolve(), { signal: isOver });
  });
  return navigator.locks.request(LOCK, { mode: "shared" }, async () => {
    const { held = [] } = await navigator.locks.query();
    const isFull = held.filter((lock) => lock.name === LOCK).length >= MAX_STREAMS;
    if (isFull && getNavigation()?.nextHopProtocol.startsWith("http/1")) {
      reportWarning(
        new Error(
          `Hidden tabs of this browser hold ${MAX_STREAMS} streaming calls, the last one of ${name}. A browser has six connections to a site on HTTP/1.1, so a further one stops all pages of the site. Cancel the stream while document.hidden is true, or use channel() and subscribe(): all tabs share one connection for them. With a proxy that serves HTTP/2, this limit does not exist.`,
        ),
      );
    }
    await isReleased;
  });
}
