/**
 * What a page does for its visitor: say, ask, stop, look back, and say that they are here.
 */
import { RPCError, type Stream } from "tsweb/browser";
import { type News, NO_PLACE, type Room, type Shown, show, showMessage } from "./news.ts";
import { ask, earlier, here, say } from "./room.server.ts";

/** How often a visible page says that somebody is here. The server waits three times as long. */
const BEAT_MS = 20_000;

/** What a page has of the room beside what it shows of it. */
export interface Open extends Room {
  /** Whose page it is. */
  readonly me: string;
  readonly name: string;
  /** The answers that this page has asked for and that are being written, by their ids. */
  readonly answers: Map<string, Stream<News>>;
  isLost: boolean;
  isLoading: boolean;
}

/** Shows a message at once, and sends it. */
export function post(room: Open, text: string, asks: boolean): Promise<void> {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const id = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const sent = new Date().toISOString();
  return send(room, { id, place: NO_PLACE, from: room.me, name: room.name, text, sent, state: "sending", asks });
}

/** Sends a message, perhaps once more: it has an id, so the room has it once. */
export async function send(room: Open, message: Shown): Promise<void> {
  showMessage(room, { ...message, state: "sending" });
  try {
    if (message.asks) await follow(room, message);
    else show(room, { kind: "message", message: await say(message.id, message.text) });
  } catch {
    showMessage(room, { ...message, state: "failed" }); // unless it is in the room already
  }
}

/** Asks the assistant. All see the answer grow; whoever reads the stream can end it. */
async function follow(room: Open, { id, text }: Shown): Promise<void> {
  const stream = ask(id, text);
  room.answers.set(`re:${id}`, stream);
  try {
    for await (const news of stream) show(room, news);
  } finally {
    room.answers.delete(`re:${id}`);
  }
}

/** Puts earlier messages before those that are there. */
export async function loadEarlier(room: Open): Promise<void> {
  const [first] = room.messages;
  if (!first || room.isLoading) return;
  room.isLoading = true;
  try {
    const page = await earlier(first.place);
    room.messages = [...page.messages, ...room.messages];
    room.earlier = page.earlier;
  } catch {
    room.isLost = true;
  }
  room.isLoading = false;
}

/**
 * Says that somebody is here for as long as they can see the page, and notes when nobody answers.
 *
 * @returns what ends it
 */
export function stayHere(room: Open): () => void {
  const beat = async () => {
    if (document.visibilityState === "hidden") return;
    try {
      await here();
      room.isLost = false;
    } catch (error) {
      if (error instanceof RPCError && error.code === "unauthenticated") location.assign("/");
      else room.isLost = true;
    }
  };
  const events = ["visibilitychange", "online", "offline"];
  const timer = setInterval(beat, BEAT_MS);
  for (const event of events) addEventListener(event, beat);
  return () => {
    clearInterval(timer);
    for (const event of events) removeEventListener(event, beat);
  };
}
