/** Warnings of the page script in development. Bundlers remove what production does not use. */
import type { VNode } from "preact";
import { HYDRATION_PROBLEM_EVENT, WARNING_EVENT } from "../../protocol/index.ts";

/** The position of markup in the source, as JSX's development runtime receives it. Line and column count from 1. */
export interface MarkupSource {
  readonly fileName: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** A node, with its location, which the development runtime of JSX sets and Preact's types omit. */
export type LocatedNode = VNode & { readonly __source?: MarkupSource };

const shown = new Set<string>();

/**
 * Shows a warning in the console of the browser, and in the terminal of the development server with its location and
 * source lines. A message is shown once for each location. There is no overlay.
 *
 * The location is the `source` of the error, or else the first line of its stack that is in a file of the application.
 * An error that is thrown, or passed to `reportError`, may have a `source` too.
 *
 * @example reportWarning(Object.assign(new Error("The items of <ul> have no keys. Add key={item.id}."), { source }));
 */
export function reportWarning(warning: Error & { readonly source?: MarkupSource | undefined }): void {
  const { source } = warning;
  const id = source ? `${warning.message} ${source.fileName}:${source.lineNumber}` : warning.message;
  if (shown.has(id)) return;
  shown.add(id);
  const event = new CustomEvent(WARNING_EVENT, { detail: warning, cancelable: true });
  // A page of the development server sends it to the terminal, and shows it with the location that it receives.
  if (dispatchEvent(event)) console.warn(warning.message);
}

/**
 * Reports a problem of hydration. A page of the development server does so once it is known that the page is not older than
 * the last edit; otherwise it reloads.
 */
export function reportHydrationProblem(report: () => void): void {
  if (dispatchEvent(new CustomEvent(HYDRATION_PROBLEM_EVENT, { detail: report, cancelable: true }))) report();
}
