/**
 * A component with a state, mounted where there is no browser.
 */
import { state } from "../../src/browser/state.ts";
import { TextRoot } from "./text-root.ts";

/** What is seen of it. */
export interface Mounted<T> {
  /** As the last rendering had it. */
  state: T;
  renders: number;
  readonly text: () => string;
}

/** Renders a component that shows what `show` makes of its state, and counts its renderings. */
export function mount<T extends object>(
  initial: () => T,
  show: (value: T) => unknown = (value) => JSON.stringify(value),
): Mounted<T> {
  const root = new TextRoot();
  const seen: Mounted<T> = { state: initial(), renders: 0, text: () => root.text };
  root.show(() => {
    seen.renders++;
    seen.state = state(initial());
    return String(show(seen.state));
  });
  return seen;
}
