import type { ViewState } from "./actions.ts";
import { Avatar } from "./avatar.tsx";
import { ASSISTANT, type ShownMessage } from "./room-state.ts";

/** Messages of one person within this time are grouped under one name. */
const GROUP_MS = 5 * 60_000;

/** The handlers of the buttons of a message. */
interface MessageHandlers {
  readonly onStop: (id: string) => void;
  readonly onRetry: (message: ShownMessage) => unknown;
}

interface Props extends MessageHandlers {
  readonly room: ViewState & { readonly isHydrated: boolean };
  readonly onLoadEarlier: () => unknown;
  readonly onScroll: (top: number) => void;
}

/** The messages. Screen readers announce new messages, and an answer of the assistant when it is complete. */
export function Conversation({ room, onLoadEarlier, onScroll, ...handlers }: Props) {
  const { messages, isHydrated } = room;
  return (
    <div
      id="log"
      role="log"
      aria-live="polite"
      aria-label="Messages"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it can be scrolled with the keyboard
      tabIndex={0}
      onScroll={(event) => onScroll(event.currentTarget.scrollTop)}
    >
      <div class="messages">
        {room.hasEarlier && (
          <button
            class="quiet"
            type="button"
            disabled={!isHydrated}
            aria-disabled={room.isLoading}
            onClick={onLoadEarlier}
          >
            Load earlier messages
          </button>
        )}
        {messages.length === 0 && <p class="soft empty">No messages yet. Write the first one.</p>}
        <ol>
          {messages.map((message, index) => (
            <Entry
              key={message.id}
              message={message}
              isOwn={message.from === room.userId}
              isFirst={!continuesGroup(messages[index - 1], message)}
              time={isHydrated ? formatTime(message.sent) : ""}
              canStop={room.answers.has(message.id)}
              {...handlers}
            />
          ))}
        </ol>
      </div>
    </div>
  );
}

function continuesGroup(previous: ShownMessage | undefined, { from, sent }: ShownMessage): boolean {
  return previous?.from === from && Date.parse(sent) - Date.parse(previous.sent) < GROUP_MS;
}

/** Returns the local time of a message. Only called in the browser: the server does not have the user's time zone. */
function formatTime(sent: string): string {
  const date = new Date(sent);
  const isToday = date.toDateString() === new Date().toDateString();
  return date.toLocaleString("en-GB", {
    ...(!isToday && { day: "numeric", month: "short" }),
    hour: "2-digit",
    minute: "2-digit",
  });
}

interface EntryProps extends MessageHandlers {
  readonly message: ShownMessage;
  readonly isOwn: boolean;
  /** Whether the message is the first of its group. The name is shown above it. */
  readonly isFirst: boolean;
  readonly time: string;
  readonly canStop: boolean;
}

function Entry({ message, isOwn, isFirst, time, canStop, onStop, onRetry }: EntryProps) {
  const { id, from, name, text, sent, state } = message;
  const sender = from === ASSISTANT ? "assistant" : isOwn ? "mine" : "";
  return (
    <li class={`entry ${sender} ${state} ${isFirst ? "first" : ""}`} aria-busy={state === "writing"}>
      {isFirst && (
        <>
          <Avatar id={from} name={name} />
          <p class="by">
            <bdi>{isOwn ? "You" : name}</bdi> <time dateTime={sent}>{time}</time>
          </p>
        </>
      )}
      <p class="text" dir="auto">
        {text}
      </p>
      {state === "writing" && canStop && (
        <button class="quiet" type="button" onClick={() => onStop(id)}>
          Stop
        </button>
      )}
      {state === "stopped" && <p class="note">Stopped</p>}
      {state === "sending" && <p class="note">Sending…</p>}
      {state === "failed" && (
        <p class="note error">
          Not sent.{" "}
          <button class="link" type="button" onClick={() => onRetry(message)}>
            Try again
          </button>
        </p>
      )}
    </li>
  );
}
