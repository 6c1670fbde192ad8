import { state, type TargetedEvent } from "tsweb/browser";
import { flaw, MAX_TEXT } from "./news.ts";

/** How many characters are left when that begins to be shown. */
const NEAR = 200;

/** Moves the focus to where messages are written. */
export function focusField(): void {
  document.getElementById("text")?.focus();
}

interface Props {
  readonly isAlive: boolean;
  readonly post: (text: string, asks: boolean) => unknown;
}

/** Where messages are written. What begins with `/ask` is for the assistant, as is what its button sends. */
export function Composer({ isAlive, post }: Props) {
  const draft = state({ text: "", error: "" });

  const submit = (event: TargetedEvent<HTMLFormElement, SubmitEvent>) => {
    event.preventDefault();
    focusField();
    const [, command, text = ""] = /^\s*(\/ask(?:\s|$))?(.*)$/s.exec(draft.text) ?? [];
    draft.error = flaw(text.trim()) ?? "";
    if (draft.error) return;
    post(text.trim(), command !== undefined || event.submitter?.id === "ask");
    draft.text = "";
  };

  const keyDown = (event: TargetedEvent<HTMLTextAreaElement, KeyboardEvent>) => {
    // While letters are being composed, as in Japanese, Enter takes the proposal.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  };

  const left = MAX_TEXT - draft.text.trim().length;
  return (
    <form class="composer" method="post" onSubmit={submit}>
      <label class="spoken" for="text">
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
        onKeyDown={keyDown}
        onInput={(event) => {
          draft.text = event.currentTarget.value;
          draft.error = "";
        }}
      />
      <p class="error" id="text-error" role="alert">
        {draft.error}
      </p>
      <div class="tools">
        <button id="ask" class="quiet" type="submit" disabled={!isAlive}>
          <span aria-hidden="true">✦</span> Ask the assistant
        </button>
        <p class="soft" id="text-hint">
          {left < NEAR ? (
            <span class={left < 0 ? "over" : ""}>{left < 0 ? `${-left} too many` : `${left} left`}</span>
          ) : (
            <span class="keys">
              <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> starts a line
            </span>
          )}
        </p>
        <button class="main" type="submit" disabled={!isAlive}>
          Send
        </button>
      </div>
    </form>
  );
}
