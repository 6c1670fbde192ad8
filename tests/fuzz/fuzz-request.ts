/** A generated request. */
export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
  /** Whether the body is sent in chunks, without `Content-Length`. */
  readonly chunked: boolean;
  /** Whether the client disconnects while it sends the body. */
  readonly disconnects: boolean;
}
