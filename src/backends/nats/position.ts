import { createHash } from "node:crypto";
import type { MsgHdrs } from "@nats-io/transport-node";
import { formatBase36, isProducerId, type Position, parseBase36 } from "../bus/index.ts";
import { NS_PER_MS } from "./stream-config.ts";

/** A point in the stream, which all channels share. */
export interface StreamOffset {
  /** The stream sequence of a message. */
  readonly seq: number;
  /** The hash of that message's id: see {@link hashMessageId}. */
  readonly messageHash: string;
}

/** The hash of an offset at which there is no message, or whose message has no id. */
export const NO_MESSAGE_HASH = "0000000";

/**
 * Returns a hash of a message's `Nats-Msg-Id`: seven base-36 digits. A server that lost its last messages
 * in a crash assigns their sequences to new messages; the hash distinguishes those from the lost ones.
 */
export function hashMessageId(id: string | undefined): string {
  if (!id) return NO_MESSAGE_HASH;
  return createHash("sha1").update(id).digest().readUInt32BE().toString(36).padStart(NO_MESSAGE_HASH.length, "0");
}

/**
 * Returns the id of a message, `Nats-Msg-Id`, empty if there is none. A header that another program has written can be
 * malformed: the client then throws when it is read, which would end the reading of the connection.
 */
export function readMessageId(readHeaders: () => MsgHdrs | undefined): string {
  try {
    return readHeaders()?.get("Nats-Msg-Id") ?? "";
  } catch {
    return ""; // no bus has written them, so the message is ignored
  }
}

/** Returns the id of a message: the producer and the number of its batch. */
export function formatMessageId(producerId: string, number: number): string {
  return `${producerId}.${number}`;
}

/** Returns whether a bus has written the message with an id. Other programs can publish to the subjects too. */
export function isBusMessageId(id: string): boolean {
  const [producerId = "", number = "", ...rest] = id.split(".");
  return isProducerId(producerId) && /^\d+$/.test(number) && rest.length === 0;
}

/** Returns the position of an offset: 31 characters, `<epoch>.<sequence>-<hash>`. */
export function formatPosition(epoch: string, { seq, messageHash }: StreamOffset): Position {
  return `${epoch}.${formatBase36(seq)}-${messageHash}`;
}

/** Parses a position. Returns undefined if it is not a position of this bus. */
export function parsePosition(
  position: Position,
): { readonly epoch: string; readonly offset: StreamOffset } | undefined {
  const [, epoch, sequence, messageHash] = /^([0-9a-z]{13})\.([0-9a-z]{9})-([0-9a-z]{7})$/.exec(position) ?? [];
  const seq = parseBase36(sequence);
  return epoch === undefined || seq === undefined || messageHash === undefined
    ? undefined
    : { epoch, offset: { seq, messageHash } };
}

/**
 * Returns the epoch of a stream: the time of its creation to the nanosecond, in 13 base-36 digits. The
 * epoch of a stream that was created later is greater.
 *
 * @param created the stream's `created` time, in the format of RFC 3339
 */
export function epochFromCreated(created: string): string {
  const fraction = /\.(\d+)Z$/.exec(created)?.[1] ?? "";
  const belowMillisecond = Number(fraction.padEnd(9, "0").slice(3));
  return formatBase36(Date.parse(created)) + belowMillisecond.toString(36).padStart(4, "0");
}

/** Returns the time at which an epoch started, in milliseconds since the Unix epoch. */
export function timeOfEpoch(epoch: string): number {
  return parseBase36(epoch.slice(0, 9)) ?? 0;
}

/** Encodes a channel name as one token of a subject, without the special characters `.`, `*` and `>`. */
export function encodeSubjectToken(channel: string): string {
  return Buffer.from(channel).toString("base64url");
}

/** The metadata of a delivery, which the server puts into the reply subject of the message. */
export interface DeliveryInfo {
  /** The stream sequence of the message. */
  readonly streamSequence: number;
  /** The consumer sequence: how many messages this consumer has been sent, this one included. */
  readonly consumerSequence: number;
  /** When the stream stored the message, by the clock of the server, in milliseconds since the Unix epoch. */
  readonly storedAtMs: number;
}

/**
 * Parses the reply subject of a delivery. Returns undefined for any other subject. The subject has nine
 * tokens, or at least eleven with a domain and an account hash before the name of the stream.
 */
export function parseDelivery(reply: string | undefined): DeliveryInfo | undefined {
  const tokens = reply?.split(".") ?? [];
  if (tokens[0] !== "$JS" || tokens[1] !== "ACK" || tokens.length < 9) return undefined;
  const start = tokens.length > 9 ? 7 : 5;
  const streamSequence = Number(tokens[start]);
  const consumerSequence = Number(tokens[start + 1]);
  return Number.isSafeInteger(streamSequence) && Number.isSafeInteger(consumerSequence)
    ? { streamSequence, consumerSequence, storedAtMs: Number(tokens[start + 2]) / NS_PER_MS }
    : undefined;
}
