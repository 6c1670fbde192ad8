import type { ErrorInfo } from "../../src/panel/panel-data.ts";

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
