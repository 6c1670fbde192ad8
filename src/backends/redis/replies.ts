import {
  type EntryId,
  isEntryId,
  parseEntryId,
  type StreamEntry,
  type StreamRange,
  type StreamState,
  UNKNOWN_ID,
  UnexpectedReplyError,
} from "./stream.ts";

/** Parses the reply of `APPEND`: the epoch, and the id of the first message. */
export function parseAppendReply(reply: unknown): { readonly epoch: string; readonly firstId: EntryId } {
  if (!Array.isArray(reply)) throw new Error("Redis has already stored a later batch of this process.");
  const [epoch, ms, seq] = reply;
  return { epoch: expectText(epoch), firstId: { ms: Number(expectText(ms)), seq: Number(expectText(seq)) } };
}

/** Parses the reply of `LAST_IDS`: the state of each stream. */
export function parseLastIdsReply(reply: unknown): StreamState[] {
  const [epoch, nowMs, lastIds] = expectList(reply);
  return expectList(lastIds).map((lastId) => parseState(epoch, nowMs, lastId));
}

/** Parses the reply of `RANGE`. */
export function parseRangeReply(reply: unknown): StreamRange {
  const [epoch, nowMs, lastId, entries] = expectList(reply);
  return { ...parseState(epoch, nowMs, lastId), entries: expectList(entries).map(parseEntry) };
}

/**
 * Parses a pub/sub message of `APPEND`: the epoch, the previous id, the id, and the text of the message. Returns
 * undefined for any other text: every client of the Redis can publish to the pub/sub channel.
 */
export function parsePubSubMessage(text: string): { readonly epoch: string; readonly entry: StreamEntry } | undefined {
  const [, epoch, previousId, id, data] = /^([0-9a-z]{13}) (0|\d+-\d+) (\d+-\d+) (.*)$/s.exec(text) ?? [];
  if (epoch === undefined || previousId === undefined || id === undefined || data === undefined) return undefined;
  if (!isEntryId(id) || (previousId !== "0" && !isEntryId(previousId))) return undefined;
  return { epoch, entry: { id: parseEntryId(id), previousId, data } };
}

function parseState(epoch: unknown, nowMs: unknown, lastId: unknown): StreamState {
  const id = expectText(lastId);
  return {
    epoch: expectText(epoch),
    nowMs: Number(expectText(nowMs)),
    lastId: id === "" ? undefined : parseEntryId(id),
  };
}

/** Parses an entry. One that no bus wrote has no predecessor, so that readers detect the gap. */
function parseEntry(reply: unknown): StreamEntry {
  const [id, fields] = expectList(reply);
  const [previousName, previousId, dataName, data] = expectList(fields);
  const isOwn = previousName === "p" && dataName === "d" && typeof previousId === "string" && typeof data === "string";
  return { id: parseEntryId(expectText(id)), ...(isOwn ? { previousId, data } : { previousId: UNKNOWN_ID, data: "" }) };
}

function expectList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw unexpectedReply(value, "array");
}

function expectText(value: unknown): string {
  if (typeof value === "string") return value;
  throw unexpectedReply(value, "string");
}

/** Names the type of a reply only: its value may be the text of a message. */
function unexpectedReply(value: unknown, expected: string): Error {
  return new UnexpectedReplyError(
    `Unexpected reply of Redis: ${typeof value} instead of ${expected}. Does another program write to the bus's keys?`,
  );
}
