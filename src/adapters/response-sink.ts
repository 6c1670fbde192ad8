import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { BodySink, PushedBody } from "../http/index.ts";
import { NodeResponse } from "./node-http.ts";
import { abortResponse, currentResponse, isClosed, releaseSentHeaders } from "./response-state.ts";

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
    const socket = this.#hasWritten ? chunkedConnection(this.#response) : null;
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

/**
 * Returns the connection of a response if a chunk may be written to it next: the response is the current one of the
 * connection, its body is chunked, nothing is buffered in the response itself, and no other package has replaced `write`,
 * for example to compress.
 */
function chunkedConnection(response: ServerResponse): Socket | null {
  const { socket, chunkedEncoding, write, writableCorked } = response;
  if (!chunkedEncoding || !socket || write !== NodeResponse.prototype.write) return null;
  // Since Node 26, a response buffers its writes until the next tick. A chunk written to the connection would overtake them.
  if (writableCorked > 0) return null;
  return socket.writable && !response.writableEnded && currentResponse(socket) === response ? socket : null;
}

/** The chunks by their bytes, as long as these are used. */
const chunks = new WeakMap<Uint8Array, Buffer>();

/**
 * Returns bytes as a chunk of a chunked body, encoded once for all responses with the same bytes, which must not change.
 *
 * @see RFC 9112, section 7.1
 */
function chunkOf(bytes: Uint8Array): Buffer {
  const existing = chunks.get(bytes);
  if (existing) return existing;
  const chunk = Buffer.concat([Buffer.from(`${bytes.byteLength.toString(16)}\r\n`), bytes, END]);
  chunks.set(bytes, chunk);
  return chunk;
}

const END = Buffer.from("\r\n");
