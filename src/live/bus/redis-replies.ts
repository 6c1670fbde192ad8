import { type EntryId, parseEntryId, type StreamEntry, type StreamRange, type StreamState } from "./redis-stream.ts";

/** Reads what `APPEND` returned: the epoch, and the place of the first message. */
export function parseAppendReply(reply: unknown): { readonly epoch: string; readonly first: EntryId } {
  if (!Array.isArray(reply)) throw new Error("Redis has taken later messages of this process already.");
  const [epoch, ms, n] = reply;
  return { epoch: text(epoch), first: { ms: Number(text(ms)), n: Number(text(n)) } };
}

/** Reads what `ENDS` returned. */
export function parseLastIdsReply(reply: unknown): StreamState[] {
  const [epoch, nowMs, ends] = list(reply);
  return list(ends).map((last) => snapshot(epoch, nowMs, last));
}

/** Reads what `AFTER` returned. */
export function parseRangeReply(reply: unknown): StreamRange {
  const [epoch, nowMs, last, entries] = list(reply);
  return { ...snapshot(epoch, nowMs, last), entries: list(entries).map(readEntry) };
}

/** Reads a wake-up: the epoch, what was before, the id, the message. */
export function parsePubSubMessage(line: string): { readonly epoch: string; readonly entry: StreamEntry } {
  const [, epoch, before, id, data] = /^(\w+) ([\d-]+) ([\d-]+) (.*)$/s.exec(line) ?? [];
  return { epoch: text(epoch), entry: { place: parseEntryId(text(id)), before: text(before), data: text(data) } };
}

function snapshot(epoch: unknown, nowMs: unknown, last: unknown): StreamState {
  const id = text(last);
  return { epoch: text(epoch), nowMs: Number(text(nowMs)), last: id === "" ? undefined : parseEntryId(id) };
}

function readEntry(reply: unknown): StreamEntry {
  const [id, fields] = list(reply);
  const [, before, , data] = list(fields);
  return { place: parseEntryId(text(id)), before: text(before), data: text(data) };
}

function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw foreign();
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw foreign();
}

function foreign(): Error {
  return new Error("Redis answered with what is not of this bus.");
}
