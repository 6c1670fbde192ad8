import { randomBytes } from "node:crypto";

/** 128 random bits in base64url, without padding. */
const PRODUCER_ID = /^[\w-]{22}$/;

/**
 * Returns an identifier of one bus object, with which it marks its batches: 22 characters that hold 128 random bits. If
 * two processes had the same one, the server would take a batch of one for a retry of the other and drop it.
 */
export function createProducerId(): string {
  return randomBytes(16).toString("base64url");
}

/** Returns whether a text has the form of {@link createProducerId}. */
export function isProducerId(text: string): boolean {
  return PRODUCER_ID.test(text);
}
