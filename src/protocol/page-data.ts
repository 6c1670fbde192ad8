import type { FormSubmission } from "./form.ts";

/** The id of the `<script type="application/json">` element that carries a {@link PageData}. */
export const PAGE_DATA_ID = "tsweb";

/** Selects the element of {@link PAGE_DATA_ID}. Written out, which is shorter in the browser. */
export const PAGE_DATA_SELECTOR = "script#tsweb";

/** The name of the `<meta>` element that carries the CSRF token of a page. */
export const CSRF_META = "csrf-token";

/** Selects the element of {@link CSRF_META}. Written out, which is shorter in the browser. */
export const CSRF_META_SELECTOR = 'meta[name="csrf-token"]';

/**
 * The query parameter with which a browser without scripts requests a page with its parts in place.
 *
 * @see docs/protocol.md 11.8
 */
export const WHOLE_PARAMETER = "__whole";

/** One island of a page: an outermost view. */
export interface IslandData {
  /** The URL of the module that exports the view. */
  readonly src: string;
  /** The name of its export. */
  readonly name: string;
  readonly props: Readonly<Record<string, unknown>>;
}

/**
 * The data that the server passes to the scripts of a page.
 *
 * @see docs/protocol.md 11.7
 */
export interface PageData {
  /** The path prefix of the application: empty, or `/prefix`. */
  readonly base: string;
  /** The id of the build. Absent in development. @see docs/protocol.md 3.9 */
  readonly build?: string;
  /**
   * The tag of the client's sign-in, as in its feeds; absent if it is signed out; `null` in a page that is rendered for all clients.
   * Tabs with the same tag share a connection for live updates. @see docs/protocol.md 10.10
   */
  readonly tag?: string | null;
  /** A random string, new for every response: HTML in a page cannot imitate the comments around an island. */
  readonly mark: string;
  /** The islands, in the order of rendering. */
  readonly views: readonly IslandData[];
  /** The form that was sent without script to get this page, if a view contains it. */
  readonly form?: FormSubmission;
}

/** Returns the text of the comment before island `index`. The comment after it has the same text behind a slash. */
export function islandComment(mark: string, index: number): string {
  return `${mark}:${index}`;
}

/** Returns whether a submission was sent by a form of this function and key. Pages load it with their islands. */
export function isSubmissionOf(submission: FormSubmission, name: string, key: string): boolean {
  return submission.key === key && (submission.name === name || submission.form === name);
}
