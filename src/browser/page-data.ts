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

const element = document.getElementById("tsweb");

/**
 * What the server tells the scripts of the page, from `<script type="application/json" id="tsweb">`.
 *
 * Only the first element of that id counts, and only when it is such a script: the server writes it
 * before anything of the page's own, so HTML that found its way into the page cannot stand in for it.
 */
export const pageData: PageData =
  element instanceof HTMLScriptElement && element.type === "application/json"
    ? JSON.parse(element.text)
    : { base: "", views: [] };
