/**
 * A component with a state, mounted without a browser.
 */
import { state } from "../../src/browser/state.ts";
import { TextRoot } from "./text-root.ts";

/** A mounted component. */
export interface MountedState<T> {
  /** The state in the last rendering. */
  state: T;
  /** The number of renderings. */
  renders: number;
  readonly text: () => string;
}

/** Mounts a component that renders the result of `show` for its state. Default: the state as JSON. */
export function mountState<T extends object>(
  initial: () => T,
  show: (value: T) => unknown = (value) => JSON.stringify(value),
): MountedState<T> {
  const root = new TextRoot();
  const mounted: MountedState<T> = { state: initial(), renders: 0, text: () => root.text };
  root.renderComponent(() => {
    mounted.renders++;
    mounted.state = state(initial());
    return String(show(mounted.state));
  });
  return mounted;
}
