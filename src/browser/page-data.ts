/** One island of the page: an outermost view, in the order of its place in the document. */
export interface IslandData {
  /** The address of the module that exports the view. */
  readonly src: string;
  /** The name under which it exports it. */
  readonly name: string;
  readonly props: Readonly<Record<string, unknown>>;
}

/** What the server tells the scripts of the page. */
export interface PageData {
  /** The prefix of every address of the application: empty, or `/prefix`. */
  readonly base: string;
  /** What the comments around the islands begin with: random for each response. */
  readonly mark?: string;
  readonly views: readonly IslandData[];
}

/**
 * What the server tells the scripts of the page, from `<script type="application/json" id="tsweb">`.
 *
 * The first script of that id counts: the server writes it before anything of the page's own, on
 * every page that has this script, so HTML that found its way into the page cannot stand in for it.
 */
export const pageData: PageData = JSON.parse((document.querySelector("script#tsweb") as Element).textContent); // it is there
