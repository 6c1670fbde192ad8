import type { FormState } from "../form.ts";
import { reportWarning } from "./report.ts";

/** How long a view has to read the error: it is rendered soon, and may read it in an effect. */
const READ_MS = 1_000;

/**
 * Warns, in development, if nothing reads the error of a form's handle after a refusal: the user would see nothing.
 *
 * @param state the state, which has the error already and is not rendered yet
 */
export function watchErrors(state: FormState): void {
  let isRead = false;
  const message = state.error?.message;
  const watched = NAMES.map((name) => watchRead(state, name, () => (isRead = true)));
  setTimeout(() => {
    const areCurrent = watched.map((end) => end()).every(Boolean);
    if (isRead || !areCurrent || !state.element?.isConnected) return;
    reportWarning(Object.assign(new Error(messageOf(state.fn.id, message)), { stack: state.createdAt ?? "" }));
  }, READ_MS);
}

const NAMES = ["error", "errors"] as const;

/** Calls `onRead` when a property is read. @returns a function that ends it, and returns whether it was not replaced */
function watchRead(state: FormState, name: (typeof NAMES)[number], onRead: () => void): () => boolean {
  const set = (value: unknown) =>
    Object.defineProperty(state, name, { configurable: true, enumerable: true, writable: true, value });
  const value = state[name];
  let isCurrent = true;
  const get = () => {
    onRead();
    return value;
  };
  const replace = (next: unknown) => {
    isCurrent = false;
    set(next);
  };
  Object.defineProperty(state, name, { configurable: true, enumerable: true, get, set: replace });
  return () => {
    if (isCurrent) set(value);
    return isCurrent;
  };
}

function messageOf(name: string, error: string | undefined): string {
  return (
    `The form of ${name} was refused ("${error}"), but the user sees nothing, because the view reads neither \`error\` nor \`errors\` ` +
    'of what form() has returned. Render it, for example `<p role="alert">{handle.error?.message}</p>`, or write ' +
    `\`action={${name}}\` without form(), which shows the errors.`
  );
}
