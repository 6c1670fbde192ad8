import { formatBase36, MAX_BASE36, type Message, type Position, parseBase36, type ReadResult } from "../bus/index.ts";

/**
 * The id of an entry in a channel's stream. With `seq` 0, a time at which the channel had no stream.
 *
 * `seq` increases by one with each entry of a channel, and `ms` never decreases.
 */
export interface EntryId {
  readonly ms: number;
  readonly seq: number;
}

/** Before the id of every entry. */
export const FIRST_ID: EntryId = { ms: 0, seq: 0 };

/** The parts of a position. */
export interface StreamPosition {
  readonly epoch: string;
  readonly id: EntryId;
}

/** An entry of a stream. */
export interface StreamEntry {
  readonly id: EntryId;
  /**
   * The id of the entry before it, as Redis formats it; "0" for the first entry of a stream; {@link UNKNOWN_ID} for an
   * entry that no bus wrote.
   */
  readonly previousId: string;
  readonly data: string;
}

/** The predecessor of an entry that no bus wrote. It is no id, so the entry follows on none. */
export const UNKNOWN_ID = "";

/** Thrown when Redis replies with something that no bus wrote. A retry would get the same reply. */
export class UnexpectedReplyError extends Error {
  override get name(): string {
    return "UnexpectedReplyError";
  }
}

/** The state of a channel's stream at one moment. */
export interface StreamState {
  readonly epoch: string;
  /** The clock of Redis. */
  readonly nowMs: number;
  /** The last id of the stream, also if that entry was trimmed; undefined if there is no stream. */
  readonly lastId: EntryId | undefined;
}

/** The entries of a channel after an id, and the state of its stream at the same moment. */
export interface StreamRange extends StreamState {
  readonly entries: readonly StreamEntry[];
}

/** Returns the position of an entry id: 33 characters, `<epoch>.<ms>-<seq>`. */
export function formatPosition(epoch: string, { ms, seq }: EntryId): Position {
  return `${epoch}.${formatBase36(ms)}-${formatBase36(seq)}`;
}

/** Parses a position. Returns undefined if it is not a position of this bus. */
export function parsePosition(position: Position): StreamPosition | undefined {
  const [, epoch, time, sequence] = /^([0-9a-z]{13})\.([0-9a-z]{9})-([0-9a-z]{9})$/.exec(position) ?? [];
  const ms = parseBase36(time);
  const seq = parseBase36(sequence);
  return epoch === undefined || ms === undefined || seq === undefined ? undefined : { epoch, id: { ms, seq } };
}

/** Formats an entry id as Redis does: `<ms>-<seq>`. */
export function formatEntryId({ ms, seq }: EntryId): string {
  return `${ms}-${seq}`;
}

/** Returns whether a text is an entry id whose numbers a position can contain. */
export function isEntryId(text: string): boolean {
  return /^\d+-\d+$/.test(text) && text.split("-").every((part) => Number(part) <= MAX_BASE36);
}

/**
 * Parses an entry id.
 *
 * @throws UnexpectedReplyError if it does not have the format that the bus writes
 */
export function parseEntryId(text: string): EntryId {
  const [ms, seq] = isEntryId(text) ? text.split("-").map(Number) : [];
  if (ms !== undefined && seq !== undefined) return { ms, seq };
  throw new UnexpectedReplyError(
    `Unexpected entry id in Redis: ${JSON.stringify(text)}. Does another program write to the bus's keys?`,
  );
}

/** Returns the end of a channel: its last id, or the current time if there is no stream. */
export function endPosition({ epoch, nowMs, lastId }: StreamState): Position {
  return formatPosition(epoch, lastId ?? { ms: nowMs, seq: 0 });
}

/**
 * Returns the result of a read: the messages, or a gap.
 *
 * @param after the requested position, from whose id `range` was read
 * @param maxAgeMs how long a stream exists after its last entry, at least
 */
export function buildReadResult(after: Position, range: StreamRange, maxAgeMs: number): ReadResult {
  const from = parsePosition(after);
  const gap: ReadResult = { messages: [], gap: true, end: endPosition(range), more: false };
  if (from?.epoch !== range.epoch || isAheadOf(from.id, range)) return { ...gap, reset: true };
  if (!isContinuous(from.id, range, maxAgeMs)) return isReplaced(from.id, range) ? { ...gap, reset: true } : gap;
  const messages = chainOf(range.entries).map((entry) => toMessage(range.epoch, entry));
  const end = messages.at(-1)?.position ?? emptyReadEnd(from.id, range);
  const more = range.lastId !== undefined && end < formatPosition(range.epoch, range.lastId);
  return { messages, gap: false, end, more };
}

/**
 * Returns the result of a read from the oldest entry, which never is a gap: nothing before it was ever read.
 *
 * Entries at the start that no bus wrote are no messages.
 *
 * @param range the first entries of the stream
 */
export function buildOldestResult(range: StreamRange): ReadResult {
  const own = range.entries.findIndex(({ previousId }) => previousId !== UNKNOWN_ID);
  const chain = chainOf(own === -1 ? [] : range.entries.slice(own));
  const messages = chain.map((entry) => toMessage(range.epoch, entry));
  const last = chain.at(-1) ?? range.entries.at(-1);
  const end = last ? formatPosition(range.epoch, last.id) : endPosition(range);
  const more = range.lastId !== undefined && end < formatPosition(range.epoch, range.lastId);
  return { messages, gap: false, end, more };
}

/**
 * Returns an id after which an entry is the first one.
 *
 * For the first entry of a stream, it is the earliest time without a stream that guarantees this: an
 * earlier stream with a later entry would still exist.
 */
export function previousEntryId({ id, previousId }: StreamEntry, maxAgeMs: number): EntryId {
  return previousId === "0" ? { ms: id.ms - maxAgeMs + 1, seq: 0 } : parseEntryId(previousId);
}

/** Returns an entry as a message of the bus. */
function toMessage(epoch: string, { id, data }: StreamEntry): Message {
  return { position: formatPosition(epoch, id), data };
}

/** Returns whether the stream has not reached an id: it was restored to an earlier state, or deleted. */
function isAheadOf({ seq }: EntryId, { lastId }: StreamRange): boolean {
  return seq > (lastId?.seq ?? 0);
}

/** Returns the entries up to the first one that does not follow on the entry before it. */
function chainOf(entries: readonly StreamEntry[]): readonly StreamEntry[] {
  const isFollowing = ({ previousId }: StreamEntry, { id }: StreamEntry) => previousId === formatEntryId(id);
  const end = entries.findIndex((entry, i) => {
    const previous = entries[i - 1];
    return previous !== undefined && !isFollowing(entry, previous);
  });
  return end === -1 ? entries : entries.slice(0, end);
}

/** Returns whether the entries of a range follow on an id without omission. */
function isContinuous(id: EntryId, { entries, lastId, nowMs }: StreamRange, maxAgeMs: number): boolean {
  const [next] = entries;
  if (next ? next.previousId === formatEntryId(id) : lastId && formatEntryId(lastId) === formatEntryId(id)) return true;
  if (id.seq > 0) return false;
  // There was no stream at that time. Now there is the first one since, or still none, unless so much time
  // has passed that a stream may have been created and have expired.
  if (next) return next.previousId === "0" && next.id.ms - id.ms < maxAgeMs;
  return lastId === undefined && Math.abs(nowMs - id.ms) < maxAgeMs;
}

/** Returns whether an id without continuation belongs to another history than the current stream. */
function isReplaced({ ms, seq }: EntryId, { entries, lastId }: StreamRange): boolean {
  if (seq === 0) return false;
  const [next] = entries;
  // In one history the sequence increases by one, and the time never decreases. If more entries lie between
  // the id and the next entry, they were trimmed.
  return next ? next.id.seq <= seq + 1 : lastId !== undefined && (lastId.ms < ms || lastId.seq === seq);
}

/** Returns the end of a read without messages: the last id, or a time at which there is no stream. */
function emptyReadEnd(id: EntryId, { epoch, nowMs, lastId }: StreamRange): Position {
  return formatPosition(epoch, lastId ?? { ms: Math.max(nowMs, id.ms), seq: 0 });
}
