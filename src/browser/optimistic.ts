import { RPCError } from "../errors.ts";
import { isLater, PUBLISHED_HEADER, type QueryFrame } from "../protocol/index.ts";
import { checkedChange } from "./dev/live-checks.ts";
import { addDisplay, removeDisplay } from "./displays.ts";
import { withLanding } from "./landing.ts";
import type { Display } from "./live-listeners.ts";
import { type Draft, type Live, type LiveList, render, type Source, TAKEN } from "./live-value.ts";
import { LANDING_MS } from "./timings.ts";

/** A change whose call is open, or that the value of the server may not contain yet. */
interface OpenDraft {
  state: Draft["state"];
  readonly change: (copy: unknown) => unknown;
  /** Whether the page shows no newer value, because it may or may not contain the change. */
  isHeld: boolean;
  /** Returns whether the value of the server contains the change. */
  isLanded: () => boolean;
  /** Called when the change is dropped, because the value that is shown contains it. */
  readonly drop: () => void;
}

/** The drafts of each source, in the order in which they were made. */
const draftsOf = new WeakMap<Source, Set<OpenDraft>>();

/**
 * Shows a change of a value at once, while the call that makes it is under way. If the call fails, the value goes back.
 *
 * - The change is dropped in the rendering that shows the value of the server with it: while the call takes less than two seconds, it
 *   is never shown twice and never missing. After that, a new object is still shown once if its key was made by the client.
 * - If the connection is lost before the response, the change is shown, as `unknown` in `list.pending`, until the page has a
 *   value that the server has computed after that.
 *
 * @param list the result of `live`
 * @param change changes a copy of the value. Its result is ignored: `push` and `splice` return other things than the list. It may be
 *   called again, for a newer value.
 * @param call calls the server function that makes the change
 * @returns what `call` returns, when the page shows the value of the server, or after two seconds
 * @throws what `call` throws. If `change` throws, nothing is called.
 * @see docs/protocol.md 10.13
 * @example await optimistic(list, (cards) => cards.push({ id, title }), () => add(board, id, title));
 */
export async function optimistic<Value, Result>(
  list: Live<Value>,
  change: (copy: Value) => unknown,
  call: () => Result,
): Promise<Awaited<Result>> {
  const { source } = list as Live as LiveList; // `live` has made it
  if (process.env.NODE_ENV !== "production" && !source) {
    throw new TypeError("optimistic() needs what live() has returned: const list = live(cards); optimistic(list, …).");
  }
  const apply = process.env.NODE_ENV === "production" ? change : checkedChange(change);
  apply(structuredClone(source.shown) as Value); // it has the type of the list
  const drafts = draftsOf.get(source) ?? startDrafts(source);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let drop = () => {};
  const landing = new Promise<void>((resolve) => {
    drop = resolve;
  });
  const draft = { state: "sent", change, isLanded: () => false, drop } as OpenDraft; // `change` takes what the list has

  /** Holds newer values for two seconds. */
  function hold(): void {
    clearTimeout(timer);
    draft.isHeld = true;
    timer = setTimeout(() => {
      draft.isHeld = false;
      source.update();
      drop();
    }, LANDING_MS);
    source.update();
  }

  drafts.add(draft);
  hold();
  try {
    let published = "";
    const calling = withLanding((response) => {
      published = response.headers.get(PUBLISHED_HEADER) ?? "";
    }, call);
    const result = await calling;
    // A function around several calls has published more than the response of the first one names.
    draft.isLanded = whenShown(source, "cancel" in Object(calling) ? published : "");
    hold();
    await landing;
    // The tags of another process may differ, or the connection is lost.
    if (drafts.has(draft)) draft.isLanded = whenShown(source, "");
    return result;
  } catch (error) {
    // The page has made the error itself: there was no response, or none of the application.
    if (error instanceof RPCError && "cause" in error) {
      draft.state = "unknown";
      draft.isLanded = whenShown(source, "");
      hold();
    } else {
      drafts.delete(draft);
      source.update();
    }
    throw error;
  }
}

/** Makes a source show its value with drafts, of which it has none yet. */
function startDrafts(source: Source): Set<OpenDraft> {
  const drafts = new Set<OpenDraft>();
  /** The value to which the drafts are applied: it contains none of them, or they are old. */
  let base = source.value;
  draftsOf.set(source, drafts);
  source.update = () => {
    const open = [...drafts].filter((draft) => !draft.isLanded());
    if (source.version === TAKEN) drafts.clear();
    if (!drafts.size || !open.some(({ isHeld }) => isHeld)) {
      base = source.value;
      for (const draft of drafts) if (draft.isLanded() && drafts.delete(draft)) draft.drop();
    }
    source.pending = open;
    source.shown = drafts.size ? applyDrafts(base, drafts, source.handle.key ?? "id") : base;
    render(source);
  };
  return drafts;
}

/**
 * Returns a value with drafts. An object that a draft has added is left out if the value has one with the same key: the server has
 * added it already.
 */
function applyDrafts(base: unknown, drafts: Iterable<OpenDraft>, key: string): unknown {
  const value = structuredClone(base);
  const own = new Set(Array.isArray(value) ? value : []);
  for (const { change } of drafts) {
    try {
      change(value);
    } catch {
      // What it changes is gone.
    }
  }
  if (!Array.isArray(value)) return value;
  const keys = new Set(value.filter((item) => own.has(item)).map((item) => item?.[key]));
  return value.filter((item) => own.has(item) || item?.[key] === undefined || !keys.has(item[key]));
}

/**
 * Returns a function that returns whether a source has a value that contains what a call has done: one whose run began when the
 * messages of the call were on its channels. If the call has published nothing there, the page requests a value.
 *
 * @param published the header of the response
 */
function whenShown(source: Source, published: string): () => boolean {
  const own = published
    .split(",")
    .map((item) => item.split("="))
    .filter(([tag = ""]) => positionIn(source, tag));
  if (own.length) {
    return () => own.every(([tag = "", position = ""]) => !isLater(position, positionIn(source, tag) ?? ""));
  }
  let isRequested = false;
  let isReceived = false;
  // Beside the source, and without a version: the server runs the query after it has received the request.
  const request: Display = {
    ...source,
    get token() {
      isRequested = true;
      return source.handle.query;
    },
    frame({ value }: QueryFrame) {
      if (!isRequested || value === undefined) return;
      isReceived = true;
      removeDisplay(request);
      source.update();
    },
  };
  addDisplay(request);
  return () => isReceived;
}

/** Returns the position of a channel in the version of a source, by its tag. */
function positionIn({ version }: Source, tag: string): string | undefined {
  return (version.split(`_${tag}=`)[1] ?? version.split(`,${tag}=`)[1])?.split(",")[0];
}
