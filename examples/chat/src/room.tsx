import {
  type Feed,
  on_mount,
  on_unmount,
  type Presence,
  present,
  type Stream,
  state,
  subscribe,
  view,
} from "tsweb/browser";
import { loadEarlier, postMessage, sendMessage } from "./actions.ts";
import { Composer, focusMessageField } from "./composer.tsx";
import { Conversation } from "./conversation.tsx";
import { People } from "./people.tsx";
import { applyEvent, type Named, type RoomEvent, type RoomState } from "./room-state.ts";

interface Props extends RoomState {
  readonly feed: Feed<RoomEvent>;
  readonly here: Presence<Named>;
  readonly userId: string;
  readonly userName: string;
}

/** The room: its people, its messages, and the form for new ones. */
export const Room = view(({ feed, here, ...initial }: Props) => {
  const people = present(here);
  const room = state({
    ...initial,
    answers: new Map<string, Stream<RoomEvent>>(),
    isHydrated: false,
    isAtEnd: true,
    isDisconnected: false,
    isLoading: false,
    unseen: 0,
  });

  on_mount(() => {
    subscribe(feed, (event) => {
      const isNew = event.kind === "message" && !room.messages.some(({ id }) => id === event.message.id);
      if (isNew && !room.isAtEnd) room.unseen++;
      applyEvent(room, event);
    });
    room.isHydrated = true;
    if (matchMedia("(pointer: fine)").matches) focusMessageField(); // On a phone, this would open the keyboard.
    const showConnection = () => {
      room.isDisconnected = !navigator.onLine;
    };
    for (const event of ["online", "offline"]) addEventListener(event, showConnection);
  });

  on_unmount(() => {
    for (const stream of room.answers.values()) stream.cancel();
  });

  const stopAnswer = (id: string) => {
    room.answers.get(id)?.cancel();
    focusMessageField();
  };

  /** The log is laid out in reverse, so its scroll position 0 is the end. */
  const scrollToEnd = () => document.getElementById("log")?.scrollTo(0, 0);

  const handleScroll = (top: number) => {
    room.isAtEnd = top > -32;
    if (room.isAtEnd) room.unseen = 0;
  };

  return (
    <>
      <People people={people.list} userId={room.userId} />
      <section class="talk" aria-label="Conversation">
        <Conversation
          room={room}
          onLoadEarlier={() => loadEarlier(room)}
          onRetry={(message) => sendMessage(room, message)}
          onScroll={handleScroll}
          onStop={stopAnswer}
        />
        <div class="foot">
          {room.unseen > 0 && (
            <button class="unseen" type="button" onClick={scrollToEnd}>
              {room.unseen} new {room.unseen === 1 ? "message" : "messages"} ↓
            </button>
          )}
          <p class="notice" role="status">
            {(room.isDisconnected || people.stale) &&
              "No connection. New messages appear here when you are online again."}
          </p>
          <Composer
            isHydrated={room.isHydrated}
            onSend={(text, isQuestion) => {
              scrollToEnd();
              void postMessage(room, text, isQuestion);
            }}
          />
        </div>
      </section>
    </>
  );
});
