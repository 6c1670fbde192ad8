import type { Page } from "playwright-core";

/** A change of a file of the guest book. */
export interface Edit {
  /** The file, relative to the project's folder. It is created if it does not exist. */
  readonly file: string;
  /** The text to replace, which occurs once; if absent, `to` is the whole new text. */
  readonly from?: string;
  readonly to: string;
}

/**
 * Where a message appears:
 * - `types`: `tsc` prints it
 * - `build`: `tsweb build` fails with it
 * - `page`: the development server responds to the page with its error page
 * - `overlay`: the open page shows the overlay of the development server
 * - `terminal`: the development server prints it
 * - `console`: the console of the browser shows it
 */
export type Place = "types" | "build" | "page" | "overlay" | "terminal" | "console";

/** A mistake in the guest book of the README, and the message that it gets. */
export interface Mistake {
  /** What the developer does, as a full clause: "renders an object in a view". It is unique. */
  readonly mistake: string;
  readonly edits: readonly Edit[];
  /** The path to open; `/` by default. Pages are not opened for `types` and `build`. */
  readonly path?: string;
  /** What the user does in the page before the message appears. A message in the terminal alone needs no browser without it. */
  readonly act?: (page: Page) => Promise<void>;
  readonly places: readonly Place[];
  /** The location in the message, in every place, such as `src/guest-book.tsx:12` or `src/guest-book.tsx:12:7`. */
  readonly at: string;
  /** What the message says is wrong. */
  readonly says: string | RegExp;
  /** How the message says to fix it. */
  readonly fix: string | RegExp;
}
