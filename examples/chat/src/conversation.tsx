import type { Open } from "./actions.ts";
import { Avatar } from "./avatar.tsx";
import { ASSISTANT, type Shown } from "./news.ts";

/** What one person says within so long stands together, under one name. */
const TOGETHER_MS = 5 * 60_000;

interface Props extends Acts {
  readonly room: Open & { readonly isAlive: boolean };
  readonly loadEarlier: () => unknown;
  readonly scrolled: (top: number) => void;
}

/** What can be done about a message. */
interface Acts {
  readonly stop: (id: string) => void;
  readonly retry: (message: Shown) => unknown;
}

/** What was said. Readers of the screen hear what is added; an answer, once it is whole. */
export function Conversation({ room, loadEarlier, scrolled, ...acts }: Props) {
  const { messages, isAlive } = room;
  return (
    <div
      id="log"
      role="log"
      aria-live="polite"
      aria-label="Messages"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, with the keyboard too
      tabIndex={0}
      onScroll={(event) => scrolled(event.currentTarget.scrollTop)}
    >
      <div class="said">
        {room.earlier && (
          <button class="quiet" type="button" disabled={!isAlive} aria-disabled={room.isLoading} onClick={loadEarlier}>
            Load earlier messages
          </button>
        )}
        {messages.length === 0 && <p class="soft empty">Nothing was said here yet. Be the first.</p>}
        <ol>
          {messages.map((message, index) => (
            <Entry
              key={message.id}
              message={message}
              isMine={message.from === room.me}
              isFirst={!belongsTo(messages[index - 1], message)}
              time={isAlive ? timeOf(message.sent) : ""}
              canStop={room.answers.has(message.id)}
              {...acts}
            />
          ))}
        </ol>
      </div>
    </div>
  );
}

function belongsTo(earlier: Shown | undefined, { from, sent }: Shown): boolean {
  return earlier?.from === from && Date.parse(sent) - Date.parse(earlier.sent) < TOGETHER_MS;
}

/** Says when that was, in the visitor's time zone, which the server does not know. */
function timeOf(sent: string): string {
  const date = new Date(sent);
  const isToday = date.toDateString() === new Date().toDateString();
  return date.toLocaleString("en-GB", {
    ...(!isToday && { day: "numeric", month: "short" }),
    hour: "2-digit",
    minute: "2-digit",
  });
}

interface EntryProps extends Acts {
  readonly message: Shown;
  readonly isMine: boolean;
  /** Whether it begins what somebody says, and so has their name above it. */
  readonly isFirst: boolean;
  readonly time: string;
  readonly canStop: boolean;
}

function Entry({ message, isMine, isFirst, time, canStop, stop, retry }: EntryProps) {
  const { id, from, name, text, sent, state } = message;
  const who = from === ASSISTANT ? "assistant" : isMine ? "mine" : "";
  return (
    <li class={`entry ${who} ${state} ${isFirst ? "first" : ""}`} aria-busy={state === "writing"}>
      {isFirst && (
        <>
          <Avatar id={from} name={name} />
          <p class="by">
            <bdi>{isMine ? "You" : name}</bdi> <time dateTime={sent}>{time}</time>
          </p>
        </>
      )}
      <p class="text" dir="auto">
        {text}
      </p>
      {state === "writing" && canStop && (
        <button class="quiet" type="button" onClick={() => stop(id)}>
          Stop
        </button>
      )}
      {state === "stopped" && <p class="note">Stopped</p>}
      {state === "sending" && <p class="note">Sending…</p>}
      {state === "failed" && (
        <p class="note error">
          Not sent.{" "}
          <button class="link" type="button" onClick={() => retry(message)}>
            Try again
          </button>
        </p>
      )}
    </li>
  );
}
