/** What the runs of a series have led to, and the frames with which clients learn of it. @see docs/protocol.md 10.13 */
import type { Position } from "../../backends/index.ts";
import type { ErrorCode, RPCError } from "../../errors.ts";
import { QUERY_EVENT, type QueryFrame } from "../../protocol/index.ts";
import { createSeriesName, formatVersion, valueIdOf } from "./query-version.ts";

/** After which time a run that has failed is repeated: at first, and at most. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

interface SeriesRun {
  /** Its number: the first one is 1. */
  readonly run: number;
  /** The positions of the channels when it began. */
  readonly positions: readonly Position[];
}

/** The value of the last run that has succeeded. */
export interface SeriesValue extends SeriesRun {
  /** The first one of the runs with this value of which receivers have to be told. */
  readonly newsRun: number;
  readonly valueId: string;
  readonly version: string;
  /** `null` after it was dropped. */
  readonly json: string | null;
}

/** The failure of the last run. */
export interface SeriesFailure {
  readonly run: number;
  readonly cause: unknown;
  /** Whether the receivers may not see the value any more. */
  readonly takesValue: boolean;
  /** When the run is repeated at the latest, by `performance.now`. */
  readonly retryAtMs: number;
  readonly frame: QueryFrameText;
}

/** The newest value of a series, and its failure after that. The frames are shared by all clients that have the same value. */
export class SeriesResult {
  /** The name of the series, in the versions of its values. */
  readonly series = createSeriesName();
  readonly #id: string;
  readonly #tags: readonly string[];
  #value: SeriesValue | null = null;
  #failure: SeriesFailure | null = null;
  #failures = 0;
  #frames: { same?: QueryFrameText; whole?: QueryFrameText; patch?: QueryFrameText; patchBase?: string } = {};

  /**
   * @param id that of the query
   * @param tags those of its channels
   */
  constructor(id: string, tags: readonly string[]) {
    this.#id = id;
    this.#tags = tags;
  }

  get value(): SeriesValue | null {
    return this.#value;
  }

  get failure(): SeriesFailure | null {
    return this.#failure;
  }

  /**
   * Sets the value of a run that has succeeded.
   *
   * @param options.isWanted whether a receiver waits for it, also if nothing has changed
   * @param options.hasReceivers whether clients have the previous value, so that a patch is of use
   * @returns false if receivers do not have to be told: a page that was loaded has found what they have already
   */
  succeeded(
    json: string,
    { run, positions }: SeriesRun,
    { isWanted, hasReceivers }: { readonly isWanted: boolean; readonly hasReceivers: boolean },
  ): boolean {
    const previous = this.#value;
    const valueId = valueIdOf(json);
    const isSame = previous !== null && previous.valueId === valueId && previous.json !== null && !this.#failure;
    if (isSame && !isWanted && positions.every((position, i) => position === previous.positions[i])) {
      this.#value = { ...previous, run };
      return false;
    }
    const version = formatVersion({ valueId, series: this.series, run, positions }, this.#tags);
    this.#value = { run, newsRun: run, valueId, version, positions, json };
    this.#failure = null;
    this.#failures = 0;
    this.#frames = {};
    if (hasReceivers && previous && previous.json !== null && previous.valueId !== valueId) {
      const patch = createPatch(previous.json, json);
      const { valueId: base } = previous;
      if (patch !== null) {
        this.#frames.patch = this.#frameOf(`"base":"${base}","patch":${patch}`);
        this.#frames.patchBase = base;
      }
    }
    return true;
  }

  /** Sets the failure of a run. @param error what receivers may see of it */
  failed(cause: unknown, run: number, { code, message }: RPCError): void {
    const boundMs = Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** Math.min(this.#failures++, 10));
    const retryAtMs = performance.now() + boundMs * (0.5 + Math.random() / 2);
    const takesValue = code === "forbidden" || code === "unauthenticated";
    this.#failure = { run, cause, takesValue, retryAtMs, frame: errorFrame(this.#id, code, message) };
  }

  drop(): void {
    if (this.#value) this.#value = { ...this.#value, json: null };
    this.#frames = {};
  }

  /** Returns the frame with which a client that has a value gets the current one; `null` if that was dropped, or there is none. */
  frameFrom(base: string | null): QueryFrameText | null {
    if (!this.#value) return null;
    const { valueId, json } = this.#value;
    const frames = this.#frames;
    if (base === valueId) {
      frames.same ??= this.#frameOf();
      return frames.same;
    }
    if (frames.patch && frames.patchBase === base) return frames.patch;
    if (json === null) return null;
    frames.whole ??= this.#frameOf(`"value":${json}`);
    return frames.whole;
  }

  /** Returns a frame with the version of the value. @param members JSON without braces */
  #frameOf(members = ""): QueryFrameText {
    const version = `"v":${JSON.stringify(this.#value?.version)}`;
    return new QueryFrameText(this.#id, `{${version}${members && `,${members}`}}`);
  }
}

/**
 * Returns the patch from one value to another one as JSON: ranges of the old list and new rows, in the order of the new list. A row
 * that has changed is new.
 *
 * @param from JSON
 * @param to JSON
 * @returns `null` if a value is no list, if a new row is no object, or if the patch would not be shorter than the value
 */
export function createPatch(from: string, to: string): string | null {
  if (!from.startsWith("[") || !to.startsWith("[")) return null;
  const base = rowsOf(from);
  const places = new Map<string, number>();
  for (const [index, row] of base.entries()) if (!places.has(row)) places.set(row, index);
  const parts: string[] = [];
  let chars = 2;
  let start = 0;
  let end = 0; // the range that is not written yet; none if it is empty
  const add = (part: string) => {
    parts.push(part);
    chars += part.length + 1;
  };
  const endRange = () => {
    if (end > start) add(`[${start},${end}]`);
    start = end = 0;
  };
  for (const row of rowsOf(to)) {
    if (end > start && base[end] === row) {
      end++;
      continue;
    }
    endRange();
    const index = places.get(row);
    if (index !== undefined) {
      start = index;
      end = index + 1;
    } else if (row.startsWith("{")) add(row);
    else return null;
    if (chars >= to.length) return null;
  }
  endRange();
  return chars < to.length ? `[${parts.join()}]` : null;
}

/** Returns the items of a list as JSON, each in the form that `JSON.stringify` gives it. */
function rowsOf(json: string): string[] {
  const rows: readonly unknown[] = JSON.parse(json); // it starts with a bracket
  return rows.map((row) => JSON.stringify(row));
}

/** A frame of a query. All connections of the process share it. */
export class QueryFrameText {
  /** The id of the query. */
  readonly id: string;
  /** JSON */
  readonly json: string;
  #event: Uint8Array | undefined;

  constructor(id: string, json: string) {
    this.id = id;
    this.json = json;
  }

  /** The frame as an event of an event stream, encoded on first use. */
  get event(): Uint8Array {
    this.#event ??= Buffer.from(`event: ${QUERY_EVENT}\ndata: ${this.id}\ndata: ${this.json}\n\n`);
    return this.#event;
  }
}

/** Returns the frame of a run that has failed, or of a value that is refused. */
export function errorFrame(id: string, code: ErrorCode, message: string): QueryFrameText {
  return frameOf(id, { error: { code, message, details: {} } });
}

/** Returns the frame for a process that lacks the function or its signature. @param build that of the process, if it has one */
export function staleFrame(id: string, build: string | null): QueryFrameText {
  return frameOf(id, { stale: build ?? "" });
}

/** Returns the frame for a token that is not valid any more. */
export function endedFrame(id: string, token: string): QueryFrameText {
  return frameOf(id, { ended: token });
}

function frameOf(id: string, frame: QueryFrame): QueryFrameText {
  return new QueryFrameText(id, JSON.stringify(frame));
}
