import type { ServerResponse } from "node:http";
import type { BodySink, PushedBody } from "../http/index.ts";
import { abortResponse, isClosed } from "./response-state.ts";

/** Writes a pushed body to a response whose headers have been written. No web stream is needed in between. */
export function writePushedBody(body: PushedBody, response: ServerResponse): void {
  const producer = body.open(new ResponseSink(response));
  response.on("drain", () => producer.onDrain()).once("close", () => producer.onClose());
  if (isClosed(response)) producer.onClose();
}

class ResponseSink implements BodySink {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  write(chunk: string | Uint8Array): boolean {
    return this.#response.write(chunk);
  }

  end(): void {
    this.#response.end();
  }

  destroy(): void {
    abortResponse(this.#response);
  }
}
