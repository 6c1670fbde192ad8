import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeRequest } from "srvx/node";
import type { Arriving } from "../http/index.ts";

/** A request whose body is there without waiting when it came with the headers: no listeners, no timer. */
export class ArrivingRequest extends NodeRequest implements Arriving {
  readonly #incoming: IncomingMessage;

  constructor(incoming: IncomingMessage, response: ServerResponse) {
    super({ req: incoming, res: response });
    this.#incoming = incoming;
  }

  arrived(): string | null {
    const { readableLength, headers } = this.#incoming;
    // The parser holds a body to the length it declared; it says that it is complete only a moment later.
    if (readableLength === 0 || readableLength !== Number(headers["content-length"])) return null;
    return String(this.#incoming.read());
  }
}
