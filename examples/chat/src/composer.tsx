import { state, type TargetedEvent } from "tsweb/browser";
import { findTextProblem, MAX_TEXT_LENGTH } from "./room-state.ts";

/** The number of remaining characters is shown below this value. */
const COUNTDOWN_FROM = 200;

/** Moves the focus to the field for messages. */
export function focusMessageField(): void {
  document.getElementById("text")?.focus();
}

interface Props {
  readonly isHydrated: boolean;
  readonly onSend: (text: string, isQuestion: boolean) => unknown;
}

/** The form for messages. A message is a question to the assistant if it starts with `/ask`, or is sent by its button. */
export function Composer({ isHydrated, onSend }: Props) {
  const draft = state({ text: "", error: "" });

  const submit = (event: TargetedEvent<HTMLFormElement, SubmitEvent>) => {
    event.preventDefault();
    focusMessageField();
    const [, command, text = ""] = /^\s*(\/ask(?:\s|$))?(.*)$/s.exec(draft.text) ?? [];
    draft.error = findTextProblem(text.trim()) ?? "";
    if (draft.error) return;
    onSend(text.trim(), command !== undefined || event.submitter?.id === "ask");
    draft.text = "";
  };

  const handleKeyDown = (event: TargetedEvent<HTMLTextAreaElement, KeyboardEvent>) => {
    // In an input method, for example for Japanese, Enter accepts a suggestion.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  };

  const remaining = MAX_TEXT_LENGTH - draft.text.trim().length;
  return (
    <form class="composer" method="post" onSubmit={submit}>
      <label class="visually-hidden" for="text">
        Message
      </label>
      <textarea
        id="text"
        name="text"
        rows={1}
        placeholder="Write to everybody here"
        enterkeyhint="send"
        autoComplete="off"
        value={draft.text}
        aria-invalid={draft.error !== ""}
        aria-describedby="text-error text-hint"
        onKeyDown={handleKeyDown}
        onInput={(event) => {
          draft.text = event.currentTarget.value;
          draft.error = "";
        }}
      />
      <p class="error" id="text-error" role="alert">
        {draft.error}
      </p>
      <div class="tools">
        <button id="ask" class="quiet" type="submit" disabled={!isHydrated}>
          <span aria-hidden="true">✦</span> Ask the assistant
        </button>
        <p class="soft" id="text-hint">
          {remaining < COUNTDOWN_FROM ? (
            <span class={remaining < 0 ? "over" : ""}>
              {remaining < 0 ? `${-remaining} too many` : `${remaining} left`}
            </span>
          ) : (
            <span class="keys">
              <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> starts a line
            </span>
          )}
        </p>
        <button class="main" type="submit" disabled={!isHydrated}>
          Send
        </button>
      </div>
    </form>
  );
}
