/** The destination of a pushed body. The adapter of the host implements it. */
export interface BodySink {
  /**
   * Writes text or bytes.
   *
   * @returns `false` if the data is still buffered; the producer should wait for `onDrain` before it writes more
   */
  write(chunk: string | Uint8Array): boolean;
  /**
   * Writes bytes that the producers of many responses write, like `write`. The host encodes them once for all of them, so
   * they must not change. Absent in hosts without such an encoding.
   */
  writeShared?(bytes: Uint8Array): boolean;
  /** Ends the body normally. */
  end(): void;
  /** Aborts the body, so that the client does not take it for complete. */
  destroy(): void;
}

/** The callbacks of a pushed body's producer. */
export interface BodyProducer {
  /** Called when the buffered data has been sent. The producer may write more. */
  onDrain(): void;
  /** Called once when the body has ended, regardless of which side ended it. */
  onClose(): void;
}

// A global symbol: a built application contains its own copy of this module, and may be mounted by another copy.
const PUSHED_BODY = Symbol.for("tsweb.pushed");

/** Returns whether a body is a {@link PushedBody} of this or of another copy of this module. */
export function isPushedBody(body: unknown): body is PushedBody {
  return typeof body === "object" && body !== null && PUSHED_BODY in body;
}

/**
 * A response body whose producer writes whenever it has data, instead of waiting until it is read. The Node adapter
 * connects it to the socket directly: a web stream in between would double the cost of a message.
 */
export class PushedBody {
  readonly [PUSHED_BODY] = true;
  readonly #open: (sink: BodySink) => BodyProducer;

  /** @param open starts to write; called once, after the headers have been sent */
  constructor(open: (sink: BodySink) => BodyProducer) {
    this.#open = open;
  }

  /** Starts the body. Call it once. */
  open(sink: BodySink): BodyProducer {
    return this.#open(sink);
  }

  /** Returns the body as a web stream, for hosts other than Node. */
  toStream(): ReadableStream<Uint8Array> {
    return streamOf(this);
  }
}

/** The number of bytes that a stream buffers before `write` returns `false`. */
const HIGH_WATER_MARK_BYTES = 64 * 1024;

function streamOf(body: PushedBody): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let producer: BodyProducer | undefined;
  let isOpen = true;
  const close = (endStream: () => void) => {
    if (!isOpen) return;
    isOpen = false;
    endStream();
    producer?.onClose();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        producer = body.open({
          write(chunk) {
            if (!isOpen) return false;
            controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk.slice());
            return (controller.desiredSize ?? 0) > 0;
          },
          end: () => close(() => controller.close()),
          destroy: () => close(() => controller.error(new Error("The response body was aborted by the server."))),
        });
      },
      pull: () => producer?.onDrain(),
      cancel: () => close(() => undefined),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: HIGH_WATER_MARK_BYTES }),
  );
}
