import { readRequestText } from "./request-text.ts";
import { originOf } from "./url-origin.ts";

/**
 * A request as its host provides it. The adapters implement it with lazy accessors: each value is computed on first
 * use. On Node, creating the Fetch `Request` costs more than all other values together, and most calls never need it.
 */
export interface InboundRequest {
  readonly method: string;
  /** The path, as `URL.pathname` has it. */
  readonly pathname: string;
  readonly url: URL;
  /** The origin of the connection: its scheme and the `Host` header. */
  readonly origin: string;
  /** The address of the other end of the connection; empty if the host does not provide it. */
  readonly address: string;
  /** The same request as a Fetch `Request`. */
  readonly request: Request;
  /** All headers. */
  readonly headers: Headers;
  /** Aborts when the client disconnects before it has received the whole response. */
  readonly signal: AbortSignal;
  /**
   * Returns a header as `Headers.get` does.
   *
   * @param name in lower case
   */
  header(name: string): string | null;
  /**
   * Returns the body if all of its declared length has been received, as it usually is for small bodies; otherwise
   * `null`. The body can be read once, either with this method or from `request`.
   */
  bufferedBody(): string | null;
  /** Whether the body has been read, in whole or in part. */
  readonly bodyUsed: boolean;
  /**
   * Reads the whole body as text, without a Fetch `Request` where the host needs none. Resolves with `null` as soon as
   * the body is over the limit.
   *
   * @throws Error if the connection ends before the body has arrived, or if the body has been read already
   */
  readText(maxBytes: number): Promise<string | null>;
}

/** A request of a host that provides a Fetch `Request`. */
export class FetchInboundRequest implements InboundRequest {
  readonly request: Request;
  readonly url: URL;
  readonly address: string;

  /** @param address the address of the other end of the connection, if the host provides it separately */
  constructor(request: Request, address?: string) {
    // srvx and hosts that follow it add the client's address to the request as `ip`. `Request` does not declare it.
    const { ip } = request as Request & { readonly ip?: string };
    this.request = request;
    this.url = new URL(request.url);
    this.address = address ?? ip ?? "";
  }

  get method(): string {
    return this.request.method;
  }

  get pathname(): string {
    return this.url.pathname;
  }

  get origin(): string {
    return originOf(this.url);
  }

  get headers(): Headers {
    return this.request.headers;
  }

  get signal(): AbortSignal {
    return this.request.signal;
  }

  header(name: string): string | null {
    return this.request.headers.get(name);
  }

  bufferedBody(): null {
    return null;
  }

  get bodyUsed(): boolean {
    return this.request.bodyUsed;
  }

  readText(maxBytes: number): Promise<string | null> {
    return readRequestText(this.request, maxBytes);
  }
}
