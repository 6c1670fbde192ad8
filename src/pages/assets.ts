import type { PageSource, ViewSource } from "../protocol/index.ts";

/** The script of a view. */
export interface ViewAsset {
  readonly src: string;
  /** The URLs of all modules that it imports, so that the browser can fetch them at once. */
  readonly preload: readonly string[];
}

/**
 * The scripts and style sheets of pages, from the build's manifest or from the development server. URLs start with a
 * slash and do not contain the application's base.
 */
export interface Assets {
  /** The scripts of every page. Empty in production. */
  readonly scripts: readonly string[];
  /** The id of the build, which the calls of pages carry. Absent in development. */
  readonly build?: string;
  /** In development: the nonce of `scripts`, and of the style elements that they insert. */
  readonly nonce?: string;
  /** In development: scripts and style sheets are not below the application's base. */
  readonly atRoot?: true;
  /**
   * The placeholder at the start of URLs of imported files in the markup. It is replaced by the application's base and a
   * slash. Absent if the URLs need no replacement.
   */
  readonly base?: string;
  /** The page script, which hydrates views. */
  readonly islands: ViewAsset;
  view(source: ViewSource): ViewAsset;
  /**
   * Returns the style sheets of a page, in order; with a build always the same list. `null` stands for an error page, which
   * has no source.
   */
  styles(page: PageSource | null): readonly string[];
}
