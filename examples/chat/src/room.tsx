import { type Feed, on_mount, RPCError, type Stream, state, subscribe, view } from "tsweb/browser";
import { Composer, focusField } from "./composer.tsx";
import { Conversation } from "./conversation.tsx";
import { type News, NO_PLACE, type Shown, type Room as Start, show, showMessage } from "./news.ts";
import { People } from "./people.tsx";
import { ask, earlier, here, say } from "./room.server.ts";

/** How often a visible page says that somebody is here. The server waits three times as long. */
const BEAT_MS = 20_000;

interface Props extends Start {
  readonly feed: Feed<News>;
  /** Whose page it is: their id, and the name they go by. */
  readonly me: string;
  readonly name: string;
}

/** The room: what was said, who is here, and what to say next. */
export const Room = view(({ feed, me, name, messages, people, earlier: isMore }: Props) => {
  const room = state({
    messages,
    people,
    earlier: isMore,
    /** The answers that this page has asked for and that are being written, by their ids. */
    answers: new Map<string, Stream<News>>(),
    isAlive: false,
    isAtEnd: true,
    isLost: false,
    isLoading: false,
    unseen: 0,
  });

  on_mount(() => {
    subscribe(feed, (news) => {
      const isNew = news.kind === "message" && !room.messages.some(({ id }) => id === news.message.id);
      if (isNew && !room.isAtEnd) room.unseen++;
      show(room, news);
    });
    room.isAlive = true;
    if (matchMedia("(pointer: fine)").matches) focusField(); // elsewhere it would bring up the keyboard

    const timer = setInterval(beat, BEAT_MS);
    for (const event of ["visibilitychange", "online", "offline"]) addEventListener(event, beat);
    return () => {
      clearInterval(timer);
      for (const event of ["visibilitychange", "online", "offline"]) removeEventListener(event, beat);
      for (const stream of room.answers.values()) stream.cancel();
    };
  });

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

  /** Shows a message at once, and sends it. */
  const post = (text: string, asks: boolean) => {
    const id = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0"));
    const sent = new Date().toISOString();
    toEnd();
    return send({ id: id.join(""), place: NO_PLACE, from: me, name, text, sent, state: "sending", asks });
  };

  const send = async (message: Shown) => {
    showMessage(room, { ...message, state: "sending" });
    try {
      if (message.asks) await follow(message);
      else show(room, { kind: "message", message: await say(message.id, message.text) });
    } catch {
      showMessage(room, { ...message, state: "failed" }); // unless it is in the room already
    }
  };

  /** Asks the assistant. All see the answer grow; this page can stop it. */
  const follow = async ({ id, text }: Shown) => {
    const stream = ask(id, text);
    room.answers.set(`re:${id}`, stream);
    try {
      for await (const news of stream) show(room, news);
    } finally {
      room.answers.delete(`re:${id}`);
    }
  };

  const stop = (id: string) => {
    room.answers.get(id)?.cancel();
    focusField();
  };

  const loadEarlier = async () => {
    const [first] = room.messages;
    if (!first || room.isLoading) return;
    room.isLoading = true;
    try {
      const page = await earlier(first.place);
      const known = new Set(room.messages.map(({ id }) => id));
      room.messages = [...page.messages.filter(({ id }) => !known.has(id)), ...room.messages];
      room.earlier = page.earlier;
    } catch {
      room.isLost = true;
    }
    room.isLoading = false;
  };

  /** The log is laid out from its end, so that is where it starts. */
  const toEnd = () => document.getElementById("log")?.scrollTo(0, 0);

  const scrolled = (top: number) => {
    room.isAtEnd = top > -32;
    if (room.isAtEnd) room.unseen = 0;
  };

  return (
    <>
      <People people={room.people} me={me} />
      <section class="talk" aria-label="Conversation">
        <Conversation {...{ ...room, me, loadEarlier, scrolled, stop }} retry={send} />
        <div class="foot">
          {room.unseen > 0 && (
            <button class="unseen" type="button" onClick={toEnd}>
              {room.unseen} new {room.unseen === 1 ? "message" : "messages"} ↓
            </button>
          )}
          <p class="notice" role="status">
            {room.isLost && "No connection. What is said meanwhile will be here as soon as there is one."}
          </p>
          <Composer isAlive={room.isAlive} post={post} />
        </div>
      </section>
    </>
  );
});
