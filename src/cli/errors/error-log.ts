import { type ExplainedError, explainError, heading } from "./explain-error.ts";

/** The number of errors that are remembered. Further ones are of a program that fails with a new message in a loop. */
const MAX_REMEMBERED = 500;

/** How long after an edit further changes of files belong to it, such as those of other files. */
const EDIT_MS = 500;

/** Formats an error for a terminal: message, location and source lines, or the frames of its stack without a location. */
export function errorText(error: ExplainedError): string {
  const { stack, location, frame } = error;
  const frames = stack.split("\n").filter((line) => /^\s*at /.test(line));
  const details = location === "" ? frames : [location, frame.trimEnd()].filter((text) => text !== "");
  return [printable(heading(error)), ...details].join("\n");
}

/** Replaces control characters: a message from a browser could otherwise move the cursor, or rename the window. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\ufffd");
}

/**
 * The errors that the development server prints, each with its location and source lines. The same error is printed in
 * full once until the next edit, however often a page is reloaded or a loop throws it.
 */
export class ErrorLog {
  readonly #root: string;
  readonly #write: (text: string) => void;
  readonly #printed = new Set<string>();
  #editedAt = Number.NEGATIVE_INFINITY;

  /** @param write writes a text and a line break to the terminal */
  constructor(root: string, write: (text: string) => void) {
    this.#root = root;
    this.#write = write;
  }

  /**
   * Prints an error, unless it was printed since the last edit.
   *
   * @param event the line before the error, such as "The page / failed". It is printed every time
   */
  print(error: unknown, event?: string): void {
    this.printExplained(explainError(error, this.#root), { event });
  }

  /**
   * Prints an error like {@link print}.
   *
   * @param id errors with the same id, or with the same text, are printed once
   */
  printExplained(explained: ExplainedError, { event, id }: { event?: string | undefined; id?: string } = {}): void {
    const text = errorText(explained);
    const keys = [text, ...(id === undefined ? [] : [id])];
    if (keys.some((key) => this.#printed.has(key))) {
      if (event !== undefined) this.#write(`${event}  (${firstLine(explained)}, as shown above)`);
      return;
    }
    if (this.#printed.size < MAX_REMEMBERED) for (const key of keys) this.#printed.add(key);
    this.#write(`\n${event === undefined ? "" : `${event}\n`}${text}\n`);
  }

  /** Forgets what was printed before an edit. */
  handleEdit(): void {
    const now = performance.now();
    if (now - this.#editedAt > EDIT_MS) this.#printed.clear();
    this.#editedAt = now;
  }
}

function firstLine(explained: ExplainedError): string {
  return printable(heading(explained)).split("\n", 1).join("");
}
