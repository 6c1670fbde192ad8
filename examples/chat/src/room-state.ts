/**
 * The events that are published to the room's channel, and how they change the state of a page. Server and browser both
 * use this module.
 */

/** What everybody sees of the people in the room. */
export interface Named {
  readonly name: string;
}

/** A message in the room. */
export interface Message {
  /** Created by the sender, so that a message that is sent twice is stored once. */
  readonly id: string;
  /** The number of the message in the room. Messages are shown in this order. */
  readonly sequence: number;
  /** The id of a person, or {@link ASSISTANT}. */
  readonly from: string;
  readonly name: string;
  readonly text: string;
  /** The time, in ISO 8601. */
  readonly sent: string;
  /** An answer of the assistant is `writing` until it is `complete`, or `stopped` if it ended early. */
  readonly state: "complete" | "writing" | "stopped";
}

/** An event in the room's channel. */
export type RoomEvent =
  | { readonly kind: "message"; readonly message: Message }
  /** The next part of an answer. `offset` is the length of the text before it, so that it is not appended twice. */
  | { readonly kind: "chunk"; readonly id: string; readonly offset: number; readonly text: string };

/** The sender of answers. */
export const ASSISTANT = "assistant";

/** The maximal length of a message, in UTF-16 code units. */
export const MAX_TEXT_LENGTH = 2_000;

/** Returns what is wrong with the text of a message; `undefined` if it can be sent. */
export function findTextProblem(text: string): string | undefined {
  if (text.trim() === "") return "Write something first.";
  if (text.length <= MAX_TEXT_LENGTH) return undefined;
  return `That is ${text.length} characters long: ${MAX_TEXT_LENGTH} fit into one message.`;
}

/** A message as a page shows it. Until the server has stored it, its `sequence` is {@link NO_SEQUENCE}. */
export interface ShownMessage extends Omit<Message, "state"> {
  readonly state: Message["state"] | "sending" | "failed";
  /** Whether it is a question to the assistant. Only set on the page that sends it. */
  readonly isQuestion?: boolean;
}

/** Sorts a message after all stored ones. */
export const NO_SEQUENCE = Number.POSITIVE_INFINITY;

/** The state of the room that a page shows. */
export interface RoomState {
  messages: ShownMessage[];
  /** Whether the room has messages before the first of `messages`. */
  hasEarlier: boolean;
}

/**
 * Applies an event to the state of a page.
 *
 * This is idempotent: the page's own data, its feed and the results of its calls may contain the same event.
 * An event that is older than the state changes nothing.
 */
export function applyEvent(room: RoomState, event: RoomEvent): void {
  if (event.kind === "message") applyMessage(room, event.message);
  else applyChunk(room, event);
}

/** Adds a message in its order, or updates it. */
export function applyMessage({ messages, hasEarlier }: RoomState, message: ShownMessage): void {
  const index = messages.findIndex(({ id }) => id === message.id);
  const current = messages[index];
  if (current) {
    // A stored message is never replaced by an unsent one, and the text of an answer never becomes shorter.
    const isNewer =
      current.sequence === NO_SEQUENCE ||
      (message.sequence !== NO_SEQUENCE && current.text.length <= message.text.length);
    if (isNewer) messages[index] = message;
  } else if (!hasEarlier || message.sequence > (messages[0]?.sequence ?? 0)) {
    messages.push(message);
  } // Otherwise the message is loaded later, with the earlier messages around it.
  messages.sort((a, b) => a.sequence - b.sequence);
}

function applyChunk({ messages }: RoomState, chunk: { id: string; offset: number; text: string }): void {
  const index = messages.findIndex(({ id }) => id === chunk.id);
  const current = messages[index];
  // Without the text before it, the chunk is ignored. The complete message follows when the answer ends.
  if (!current || current.text.length < chunk.offset) return;
  const text = current.text.slice(0, chunk.offset) + chunk.text;
  if (text.length > current.text.length) messages[index] = { ...current, text };
}
