/** What a visitor found at a page. */
export interface Visit {
  readonly status: number;
  /** Where it ended: path and query; another than was asked for when redirects were followed. */
  readonly path: string;
  /** Where the answer leads, as it says: a path of the site, or another site's address. */
  readonly location: string | null;
  readonly headers: Headers;
  /** The whole body. */
  readonly text: string;
}

/** Reads an answer whole. */
export async function readVisit(response: Response, { pathname, search }: URL): Promise<Visit> {
  const { status, headers } = response;
  return { status, path: pathname + search, location: headers.get("location"), headers, text: await response.text() };
}
