/**
 * What is told to a room, and what becomes of a room that is told it. Both sides know this.
 */

/** Somebody in the room. */
export interface Person {
  readonly id: string;
  readonly name: string;
  /** Grows with every arrival: of two visits of one person, it tells which is over. */
  readonly visit: number;
}

/** What was said in the room. */
export interface Message {
  /** Made by who sends it: sent twice, it is one message. */
  readonly id: string;
  /** Where it stands in the room: messages are shown in this order. */
  readonly place: number;
  /** Who said it: the id of a person, or {@link ASSISTANT}. */
  readonly from: string;
  readonly name: string;
  readonly text: string;
  /** When, in ISO 8601. */
  readonly sent: string;
  /** An answer is `writing` while it grows, and `stopped` if that ended early. */
  readonly state: "said" | "writing" | "stopped";
}

/** What is published to the room's channel. */
export type News =
  | { readonly kind: "message"; readonly message: Message }
  /** More of an answer. `at` is how much of it came before, so that a piece that came twice is one. */
  | { readonly kind: "piece"; readonly id: string; readonly at: number; readonly text: string }
  | { readonly kind: "joined"; readonly person: Person }
  | { readonly kind: "left"; readonly person: Person };

/** Whom answers are from. */
export const ASSISTANT = "assistant";

/** The longest text, in characters. */
export const MAX_TEXT = 2_000;

/** Says what is wrong with a text; nothing, if it can be sent. */
export function flaw(text: string): string | undefined {
  if (text.trim() === "") return "Write something first.";
  if (text.length <= MAX_TEXT) return undefined;
  return `That is ${text.length} characters long: ${MAX_TEXT} fit into one message.`;
}

/** A message as a page shows it. One that is not in the room yet has no place, which is {@link NO_PLACE}. */
export interface Shown extends Omit<Message, "state"> {
  readonly state: Message["state"] | "sending" | "failed";
  /** Whether it is a question to the assistant; known of one's own, while they are sent. */
  readonly asks?: boolean;
}

/** After all others. */
export const NO_PLACE = Number.POSITIVE_INFINITY;

/** What a page shows of the room. */
export interface Room {
  messages: Shown[];
  people: Person[];
  /** Whether there are messages before the first of these. */
  earlier: boolean;
}

/**
 * Shows news. What a page was rendered with may come again as news, and so may what its own calls
 * have answered: all of it can be shown any number of times, and nothing ever goes back.
 */
export function show(room: Room, news: News): void {
  switch (news.kind) {
    case "message":
      showMessage(room, news.message);
      break;
    case "piece":
      showPiece(room, news);
      break;
    case "joined":
      room.people = [...room.people.filter(({ id }) => id !== news.person.id), news.person];
      break;
    case "left":
      room.people = room.people.filter(({ id, visit }) => id !== news.person.id || visit > news.person.visit);
  }
}

/** Shows a message, in its place. */
export function showMessage({ messages, earlier }: Room, message: Shown): void {
  const index = messages.findIndex(({ id }) => id === message.id);
  const known = messages[index];
  if (known) {
    const isNewer =
      known.place === NO_PLACE || (message.place !== NO_PLACE && known.text.length <= message.text.length);
    if (isNewer) messages[index] = message; // what has its place keeps it, and answers only grow
  } else if (!earlier || message.place > (messages[0]?.place ?? 0)) {
    messages.push(message); // else it comes with those around it, when they are asked for
  }
  messages.sort((one, other) => one.place - other.place);
}

function showPiece({ messages }: Room, piece: { id: string; at: number; text: string }): void {
  const index = messages.findIndex(({ id }) => id === piece.id);
  const known = messages[index];
  if (!known || known.text.length < piece.at) return; // the whole of it follows when it ends
  const text = known.text.slice(0, piece.at) + piece.text;
  if (text.length > known.text.length) messages[index] = { ...known, text };
}
