import { formatBase36, parseBase36 } from "./base36.ts";
import type { Message, Position, ReadResult } from "./bus.ts";

/** A place in a channel's stream: an entry's id. Of number 0, a time at which there was no stream. */
export interface EntryId {
  readonly ms: number;
  readonly n: number;
}

/** An entry of a stream: its place, the id of the one before it or "0", and the message. */
export interface StreamEntry {
  readonly place: EntryId;
  readonly before: string;
  readonly data: string;
}

/** What Redis tells of a channel, all of it at one moment. */
export interface StreamState {
  readonly epoch: string;
  readonly nowMs: number;
  /** The last place of the stream; undefined where there is none. */
  readonly last: EntryId | undefined;
}

/** What of a channel comes after a place. */
export interface StreamRange extends StreamState {
  readonly entries: readonly StreamEntry[];
}

/** Writes a position: 33 characters. */
export function formatPosition(epoch: string, { ms, n }: EntryId): Position {
  return `${epoch}.${formatBase36(ms)}-${formatBase36(n)}`;
}

/** Reads a position; undefined for what is none of this bus. */
export function parsePosition(position: Position): { readonly epoch: string; readonly place: EntryId } | undefined {
  const [, epoch, time, number] = /^([0-9a-z]{13})\.([0-9a-z]{9})-([0-9a-z]{9})$/.exec(position) ?? [];
  const ms = parseBase36(time);
  const n = parseBase36(number);
  return epoch === undefined || ms === undefined || n === undefined ? undefined : { epoch, place: { ms, n } };
}

/** Writes an entry's id, as Redis has it. */
export function formatEntryId({ ms, n }: EntryId): string {
  return `${ms}-${n}`;
}

/** Reads an entry's id. */
export function parseEntryId(id: string): EntryId {
  const [ms = Number.NaN, n = Number.NaN] = /^\d+-\d+$/.test(id) ? id.split("-").map(Number) : [];
  if (Number.isSafeInteger(ms) && Number.isSafeInteger(n)) return { ms, n };
  throw new Error("Redis holds an entry whose id is not of this bus.");
}

/** Gives the end of a channel: where there is no stream, that there is none now. */
export function endPosition({ epoch, nowMs, last }: StreamState): Position {
  return formatPosition(epoch, last ?? { ms: nowMs, n: 0 });
}

/**
 * Decides what a reader gets.
 *
 * @param limit how many messages at most
 * @param keepMs how long a stream lives on after its last entry, at least
 */
export function buildReadResult(
  after: Position,
  range: StreamRange,
  { limit, keepMs }: { limit: number; keepMs: number },
): ReadResult {
  const from = parsePosition(after);
  const gap: ReadResult = { messages: [], gap: true, end: endPosition(range), more: false };
  if (from?.epoch !== range.epoch || isAhead(from.place, range)) return { ...gap, reset: true };
  if (!follows(from.place, range, keepMs)) return wasSetBack(from.place, range) ? { ...gap, reset: true } : gap;
  const messages = range.entries.slice(0, limit).map((entry) => toMessage(range.epoch, entry));
  const end = messages.at(-1)?.position ?? laterEnd(from.place, range);
  return { messages, gap: false, end, more: range.last !== undefined && end < formatPosition(range.epoch, range.last) };
}

/**
 * Gives the place from which on an entry is the first.
 *
 * The first of a stream follows on every moment in which there was none, as far back as a stream
 * before it would have lived.
 */
export function previousEntryId({ place, before }: StreamEntry, keepMs: number): EntryId {
  return before === "0" ? { ms: place.ms - keepMs + 1, n: 0 } : parseEntryId(before);
}

/** Gives an entry as readers get it. */
export function toMessage(epoch: string, { place, data }: StreamEntry): Message {
  return { position: formatPosition(epoch, place), data };
}

/** Answers whether a place is one that this history has not come to: it was set back, or the stream is gone. */
function isAhead({ n }: EntryId, { last }: StreamRange): boolean {
  return n > (last?.n ?? 0);
}

/** Answers whether nothing lies between a place and what was found after it. */
function follows(place: EntryId, { entries, last, nowMs }: StreamRange, keepMs: number): boolean {
  const [next] = entries;
  if (place.n > 0)
    return next
      ? next.before === formatEntryId(place)
      : last !== undefined && formatEntryId(last) === formatEntryId(place);
  // There was no stream then. There is the first since, or still none, unless one could have come and gone.
  if (next) return next.before === "0" && next.place.ms - place.ms < keepMs;
  return last === undefined && Math.abs(nowMs - place.ms) < keepMs;
}

/** Answers, of a place that nothing follows on, whether another history has come to stand where it was. */
function wasSetBack({ ms, n }: EntryId, { entries, last }: StreamRange): boolean {
  if (n === 0) return false;
  const [next] = entries;
  // Numbers go up by one, and times never go back. More entries between them were trimmed.
  return next ? next.place.n <= n + 1 : last !== undefined && (last.ms < ms || last.n === n);
}

/** With nothing to read: the place itself, or that there is still no stream. */
function laterEnd(place: EntryId, { epoch, nowMs, last }: StreamRange): Position {
  return formatPosition(epoch, last ?? { ms: Math.max(nowMs, place.ms), n: 0 });
}
