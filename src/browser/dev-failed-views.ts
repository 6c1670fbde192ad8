/** The recovery of views from errors by an edit, in development. */
import { options, type VNode } from "preact";
import { VIEWS_UPDATE_EVENT } from "../protocol/index.ts";

/** Preact's hook for errors of components, which its types omit: it is called for each component around the error. */
interface OptionsInternals {
  __e: (error: unknown, node: VNode, ...more: unknown[]) => void;
}

const hooks = options as unknown as OptionsInternals; // see OptionsInternals
const { __e: previousCatch } = hooks;

let lastError: unknown;
let isIncomplete = false;

// An error that ends the rendering of a component around it leaves the nodes after it without their elements: later
// renderings could fail. A component that is rendered by itself and fails is unchanged, so an edit can keep its state.
hooks.__e = (error, ...more) => {
  isIncomplete ||= error === lastError;
  lastError = error;
  previousCatch(error, ...more);
};

// Unit tests have no window.
globalThis.addEventListener?.(VIEWS_UPDATE_EVENT, (event) => {
  // Prefresh renders in a promise. Preact's own queue reports errors as exceptions, which the page can hold until the server has
  // rendered the page (src/cli/dev/error-reports-script.ts).
  delete options.debounceRendering;
  if (!isIncomplete) return;
  event.preventDefault();
  location.reload();
});
