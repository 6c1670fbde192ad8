import type { ErrorInfo } from "../../panel-data.ts";

/** An error with its location, its source lines and its stack. */
export function ErrorDetails({ error }: { readonly error: ErrorInfo }) {
  const { type, message, location, frame, stack } = error;
  return (
    <div class="error">
      <p>
        <strong>{type}</strong>: <span class="message">{message}</span>
      </p>
      {location && (
        <p>
          <code>{location}</code>
        </p>
      )}
      {frame && <Code label="Source">{frame}</Code>}
      {stack && <Code label="Stack">{stack}</Code>}
    </div>
  );
}

/** A text with lines of its own. It can be scrolled with the keyboard. */
export function Code({ label, children }: { readonly label: string; readonly children: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it can be scrolled with the keyboard
    <section class="code" aria-label={label} tabIndex={0}>
      <pre>{children}</pre>
    </section>
  );
}

/** A field that filters a list while the user types. */
export function Filter({ label, onInput }: { readonly label: string; readonly onInput: (text: string) => void }) {
  return (
    <input
      type="search"
      class="filter"
      aria-label={label}
      placeholder={label}
      autoComplete="off"
      spellcheck={false}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}

/** The maximum length of a value that is shown, in characters: a browser takes long to lay out more. */
const MAX_CHARS = 100_000;

/** Returns JSON with line breaks; any other text as it is, such as JSON that was shortened. */
export function formatJson(json: string): string {
  try {
    return formatValue(JSON.parse(json));
  } catch {
    return json;
  }
}

/** Returns a value as JSON with line breaks, shortened. */
export function formatValue(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? "undefined";
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
}

/** Returns a duration: `12.3 ms`, or `4.5 s`. */
export function formatDuration(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** Returns the local time of day, with milliseconds. Only the browser renders times: the server may be in another zone. */
export function formatTime(time: number): string {
  const offsetMs = new Date(time).getTimezoneOffset() * 60_000;
  return new Date(time - offsetMs).toISOString().slice(11, 23);
}
