/** The actions of a page: it sends messages, reads answers, and loads earlier messages. */
import type { Stream } from "tsweb/browser";
import { ask_assistant, earlier_messages, send_message } from "./room.server.ts";
import {
  applyEvent,
  applyMessage,
  NO_SEQUENCE,
  type RoomEvent,
  type RoomState,
  type ShownMessage,
} from "./room-state.ts";

/** The state of the view: the room, the user, and what is in progress. */
export interface ViewState extends RoomState {
  /** The id and the name of the page's user. */
  readonly userId: string;
  readonly userName: string;
  /** The answers that this page has asked for and that are still being written, by their ids. */
  readonly answers: Map<string, Stream<RoomEvent>>;
  isDisconnected: boolean;
  isLoading: boolean;
}

/** Shows a message immediately, and sends it. */
export function postMessage(room: ViewState, text: string, isQuestion: boolean): Promise<void> {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const id = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const sent = new Date().toISOString();
  const { userId: from, userName: name } = room;
  return sendMessage(room, { id, sequence: NO_SEQUENCE, from, name, text, sent, state: "sending", isQuestion });
}

/** Sends a message. It can be sent again after a failure, because the server stores each id once. */
export async function sendMessage(room: ViewState, message: ShownMessage): Promise<void> {
  applyMessage(room, { ...message, state: "sending" });
  try {
    if (message.isQuestion) await readAnswer(room, message);
    else applyEvent(room, { kind: "message", message: await send_message(message.id, message.text) });
  } catch {
    applyMessage(room, { ...message, state: "failed" }); // no effect if the message was stored
  }
}

/** Asks the assistant, and applies the events of the stream. Cancelling the stream stops the answer for everybody. */
async function readAnswer(room: ViewState, { id, text }: ShownMessage): Promise<void> {
  const stream = ask_assistant(id, text);
  room.answers.set(`re:${id}`, stream);
  try {
    for await (const event of stream) applyEvent(room, event);
  } finally {
    room.answers.delete(`re:${id}`);
  }
}

/** Loads the messages before the first that is shown. */
export async function loadEarlier(room: ViewState): Promise<void> {
  const [first] = room.messages;
  if (!first || room.isLoading) return;
  room.isLoading = true;
  try {
    const { messages, hasEarlier } = await earlier_messages(first.sequence);
    room.messages = [...messages, ...room.messages];
    room.hasEarlier = hasEarlier;
  } catch {
    room.isDisconnected = true;
  }
  room.isLoading = false;
}
