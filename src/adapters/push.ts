import type { ServerResponse } from "node:http";
import type { Pushed, Sink } from "../http/index.ts";

/** Writes a pushed body to a response whose head has been written: no stream stands in between. */
export function push(body: Pushed, response: ServerResponse): void {
  const pushing = body.open(new ResponseSink(response));
  response.on("drain", () => pushing.drained()).once("close", () => pushing.closed());
  if (response.destroyed) pushing.closed();
}

class ResponseSink implements Sink {
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
    this.#response.destroy();
  }
}
