import { type Feed, on_mount, on_unmount, type Stream, state, subscribe, view } from "tsweb/browser";
import { loadEarlier, post, send, stayHere } from "./actions.ts";
import { Composer, focusField } from "./composer.tsx";
import { Conversation } from "./conversation.tsx";
import { type News, type Room as Start, show } from "./news.ts";
import { People } from "./people.tsx";

interface Props extends Start {
  readonly feed: Feed<News>;
  /** Whose page it is: their id, and the name they go by. */
  readonly me: string;
  readonly name: string;
}

/** The room: what was said, who is here, and what to say next. */
export const Room = view(({ feed, ...start }: Props) => {
  const room = state({
    ...start,
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
    return stayHere(room);
  });

  on_unmount(() => {
    for (const stream of room.answers.values()) stream.cancel();
  });

  const stop = (id: string) => {
    room.answers.get(id)?.cancel();
    focusField();
  };

  /** The log is laid out from its end, so that is where its scrolling starts. */
  const toEnd = () => document.getElementById("log")?.scrollTo(0, 0);

  const scrolled = (top: number) => {
    room.isAtEnd = top > -32;
    if (room.isAtEnd) room.unseen = 0;
  };

  return (
    <>
      <People people={room.people} me={room.me} />
      <section class="talk" aria-label="Conversation">
        <Conversation
          room={room}
          loadEarlier={() => loadEarlier(room)}
          retry={(message) => send(room, message)}
          scrolled={scrolled}
          stop={stop}
        />
        <div class="foot">
          {room.unseen > 0 && (
            <button class="unseen" type="button" onClick={toEnd}>
              {room.unseen} new {room.unseen === 1 ? "message" : "messages"} ↓
            </button>
          )}
          <p class="notice" role="status">
            {room.isLost && "No connection. What is said meanwhile will be here as soon as there is one."}
          </p>
          <Composer
            isAlive={room.isAlive}
            post={(text, asks) => {
              toEnd();
              void post(room, text, asks);
            }}
          />
        </div>
      </section>
    </>
  );
});
