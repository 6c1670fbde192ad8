import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { BodySink, PushedBody } from "../http/index.ts";
import { chunkOf, connectionForChunks, releaseSentHeaders } from "./fast/index.ts";
import { abortResponse, isClosed } from "./response-state.ts";

/** Writes a pushed body to a response whose headers have been written. No web stream is needed in between. */
export function writePushedBody(body: PushedBody, response: ServerResponse): void {
  const producer = body.open(new ResponseSink(response));
  // Since Node 26, the first write is sent on the next tick.
  process.nextTick(releaseSentHeaders, response);
  response.on("drain", () => producer.onDrain()).on("close", () => producer.onClose());
  if (isClosed(response)) producer.onClose();
}

class ResponseSink implements BodySink {
  readonly #response: ServerResponse;
  /** Whether the headers are on their way: Node sends them with the first write. */
  #hasWritten = false;
  #waitsForDrain = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  write(chunk: string | Uint8Array): boolean {
    this.#hasWritten = true;
    return this.#response.write(chunk);
  }

  /**
   * Writes a chunk that was encoded once for all responses to the connection itself. `response.write` would encode it again,
   * in four writes: half of the CPU time of a message that has many receivers.
   */
  writeShared(bytes: Uint8Array): boolean {
    const socket = this.#hasWritten ? connectionForChunks(this.#response) : null;
    if (!socket) return this.write(bytes);
    if (socket.write(chunkOf(bytes))) return true;
    this.#emitDrain(socket);
    return false;
  }

  /** Emits `drain` of the response once, as Node does only after its own write. */
  #emitDrain(socket: Socket): void {
    if (this.#waitsForDrain) return;
    this.#waitsForDrain = true;
    socket.once("drain", () => {
      this.#waitsForDrain = false;
      this.#response.emit("drain");
    });
  }

  end(): void {
    this.#response.end();
  }

  destroy(): void {
    abortResponse(this.#response);
  }
}
