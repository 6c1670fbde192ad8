import { createHash } from "node:crypto";
import { formatBase36, parseBase36 } from "./base36.ts";
import type { Position } from "./bus.ts";

/** A place in the stream, which all channels share. */
export interface StreamOffset {
  readonly seq: number;
  /** Tells the message there from another one that got its number: see {@link hashMessageId}. */
  readonly mark: string;
}

/** Marks a place at which no message was seen. */
export const NO_MESSAGE_HASH = "0000000";

/**
 * Marks a message by the id that its publisher gave it. A server that lost its last messages numbers
 * the next ones from there: the number alone would then mean another message.
 *
 * @returns 7 characters
 */
export function hashMessageId(id: string | undefined): string {
  if (!id) return NO_MESSAGE_HASH;
  return createHash("sha1").update(id).digest().readUInt32BE().toString(36).padStart(NO_MESSAGE_HASH.length, "0");
}

/** Writes a position: 31 characters. */
export function formatPosition(epoch: string, { seq, mark }: StreamOffset): Position {
  return `${epoch}.${formatBase36(seq)}-${mark}`;
}

/** Reads a position; undefined for what is none of this bus. */
export function parsePosition(
  position: Position,
): { readonly epoch: string; readonly place: StreamOffset } | undefined {
  const [, epoch, number, mark] = /^([0-9a-z]{13})\.([0-9a-z]{9})-([0-9a-z]{7})$/.exec(position) ?? [];
  const seq = parseBase36(number);
  return epoch === undefined || seq === undefined || mark === undefined ? undefined : { epoch, place: { seq, mark } };
}

/** Names a stream's history by when it was made, to the nanosecond: 13 characters, the later the greater. */
export function epochFromCreated(created: string): string {
  const nanoseconds = /\.(\d+)Z$/.exec(created)?.[1] ?? "";
  const below = Number(nanoseconds.padEnd(9, "0").slice(3));
  return formatBase36(Date.parse(created)) + below.toString(36).padStart(4, "0");
}

/** Writes a channel's name as one token of a subject: whatever it holds, it has no meaning there. */
export function encodeSubjectToken(channel: string): string {
  return Buffer.from(channel).toString("base64url");
}

/** Reads what {@link encodeSubjectToken} wrote. */
export function decodeSubjectToken(token: string): string {
  return Buffer.from(token, "base64url").toString();
}

/** What the server says of a message that it delivers, in the subject for answers to it. */
export interface DeliveryInfo {
  /** Its place in the stream. */
  readonly seq: number;
  /** How many were delivered to this consumer, with this one. */
  readonly count: number;
}

/** Reads it; undefined for what is no delivery. Between domains it has two words more. */
export function parseDelivery(reply: string | undefined): DeliveryInfo | undefined {
  const words = reply?.split(".") ?? [];
  if (words[0] !== "$JS" || words[1] !== "ACK" || words.length < 9) return undefined;
  const [seq, count] = words.slice(words.length > 9 ? 7 : 5).map(Number);
  return Number.isSafeInteger(seq) && Number.isSafeInteger(count)
    ? { seq: Number(seq), count: Number(count) }
    : undefined;
}
