import { createHash } from "node:crypto";
import type { Position } from "./bus.ts";
import { digits, readDigits } from "./epoch.ts";

/** A place in the stream, which all channels share. */
export interface Place {
  readonly seq: number;
  /** Tells the message there from another one that got its number: see {@link markOf}. */
  readonly mark: string;
}

/** Marks a place at which no message was seen. */
export const NO_MARK = "0000000";

/**
 * Marks a message by the id that its publisher gave it. A server that lost its last messages numbers
 * the next ones from there: the number alone would then mean another message.
 *
 * @returns 7 characters
 */
export function markOf(id: string | undefined): string {
  if (!id) return NO_MARK;
  return createHash("sha1").update(id).digest().readUInt32BE().toString(36).padStart(NO_MARK.length, "0");
}

/** Writes a position: 31 characters. */
export function positionOf(epoch: string, { seq, mark }: Place): Position {
  return `${epoch}.${digits(seq)}-${mark}`;
}

/** Reads a position; undefined for what is none of this bus. */
export function readPosition(position: Position): { readonly epoch: string; readonly place: Place } | undefined {
  const [, epoch, number, mark] = /^([0-9a-z]{13})\.([0-9a-z]{9})-([0-9a-z]{7})$/.exec(position) ?? [];
  const seq = readDigits(number);
  return epoch === undefined || seq === undefined || mark === undefined ? undefined : { epoch, place: { seq, mark } };
}

/** Names a stream's history by when it was made, to the nanosecond: 13 characters, the later the greater. */
export function epochOf(created: string): string {
  const nanoseconds = /\.(\d+)Z$/.exec(created)?.[1] ?? "";
  const below = Number(nanoseconds.padEnd(9, "0").slice(3));
  return digits(Date.parse(created)) + below.toString(36).padStart(4, "0");
}

/** Writes a channel's name as one token of a subject: whatever it holds, it has no meaning there. */
export function tokenOf(channel: string): string {
  return Buffer.from(channel).toString("base64url");
}

/** Reads what {@link tokenOf} wrote. */
export function channelOf(token: string): string {
  return Buffer.from(token, "base64url").toString();
}

/** What the server says of a message that it delivers, in the subject for answers to it. */
export interface Delivery {
  /** Its place in the stream. */
  readonly seq: number;
  /** How many were delivered to this consumer, with this one. */
  readonly count: number;
}

/** Reads it; undefined for what is no delivery. Between domains it has two words more. */
export function readDelivery(reply: string | undefined): Delivery | undefined {
  const words = reply?.split(".") ?? [];
  if (words[0] !== "$JS" || words[1] !== "ACK" || words.length < 9) return undefined;
  const [seq, count] = words.slice(words.length > 9 ? 7 : 5).map(Number);
  return Number.isSafeInteger(seq) && Number.isSafeInteger(count)
    ? { seq: Number(seq), count: Number(count) }
    : undefined;
}
