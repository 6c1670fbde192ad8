/** The response of a page, after its whole body was read. */
export interface Visit {
  readonly status: number;
  /** The path and query of the response. They differ from the requested ones if redirects were followed. */
  readonly path: string;
  /** The `Location` header: a path of the site, or the address of another site. */
  readonly location: string | null;
  readonly headers: Headers;
  /** The whole body. */
  readonly text: string;
}

/** Reads a whole response. */
export async function readVisit(response: Response, { pathname, search }: URL): Promise<Visit> {
  const { status, headers } = response;
  return { status, path: pathname + search, location: headers.get("location"), headers, text: await response.text() };
}
