import { originOf } from "./origin.ts";

/**
 * A request as its host has it: what every request is asked for, each for no more than it costs there.
 *
 * The whole of it, by the Fetch standard, is made for whoever asks for it: on Node that costs a call more
 * than all that is looked at here.
 */
export interface InboundRequest {
  readonly method: string;
  /** The path, as `URL` gives it. */
  readonly pathname: string;
  readonly url: URL;
  /** The origin that the connection itself names: its scheme and host. */
  readonly origin: string;
  /** The address of the connection's other end; empty where the host does not tell. */
  readonly address: string;
  /** The same request as a Fetch `Request`. */
  readonly request: Request;
  /** All headers. */
  readonly headers: Headers;
  /** Aborts when the client disconnects before it has received the whole response. */
  readonly signal: AbortSignal;
  /**
   * Gives a header as `Headers.get` does.
   *
   * @param name in lower case
   */
  header(name: string): string | null;
  /**
   * Gives the body where all of the declared length has arrived, which is how small ones come; `null`
   * where some of it is still to be waited for. It can be read once, here or of `request`.
   */
  bufferedBody(): string | null;
}

/** A request of a host that has it by the Fetch standard. */
export class FetchInboundRequest implements InboundRequest {
  readonly request: Request;
  readonly url: URL;
  readonly address: string;

  /** @param address of the connection's other end, where the host tells it beside the request */
  constructor(request: Request, address?: string) {
    // Some hosts put the client's address on the request; srvx documents it as `ip`.
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
}
