/** Where a pushed body is written to. */
export interface BodySink {
  /** Writes text or bytes. @returns `false` when what was written has yet to leave: wait for `drained` */
  write(chunk: string | Uint8Array): boolean;
  /** Ends the body in order. */
  end(): void;
  /** Breaks it off: the reader does not take what is written. */
  destroy(): void;
}

/** What is told to the one who writes. */
export interface BodyProducer {
  /** What was written has left; more may follow. */
  onDrain(): void;
  /** The body is over, whoever ended it. Told once. */
  onClose(): void;
}

/** Known to every copy of tsweb in a process: a built application brings its own, and is mounted by another. */
const PUSHED = Symbol.for("tsweb.pushed");

/** Answers whether a body is a {@link PushedBody}, whichever copy of this module has made it. */
export function isPushedBody(body: unknown): body is PushedBody {
  return typeof body === "object" && body !== null && PUSHED in body;
}

/**
 * A body that is written when there is something to say, rather than read when there is room: it is
 * handed to a platform as it is, since passing a web stream would cost as much again.
 */
export class PushedBody {
  readonly [PUSHED] = true;
  readonly #open: (sink: BodySink) => BodyProducer;

  /** @param open begins to write; called once, when the headers are on their way */
  constructor(open: (sink: BodySink) => BodyProducer) {
    this.#open = open;
  }

  open(sink: BodySink): BodyProducer {
    return this.#open(sink);
  }

  /** Gives the body as the Fetch standard has it, for platforms that take nothing else. */
  toStream(): ReadableStream<Uint8Array> {
    return pushedStream(this);
  }
}

/** How much may wait in a stream before its writer is told to stop. */
const HIGH_WATER_BYTES = 64 * 1024;

function pushedStream(body: PushedBody): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let pushing: BodyProducer | undefined;
  let isOpen = true;
  const close = (end: () => void) => {
    if (!isOpen) return;
    isOpen = false;
    end();
    pushing?.onClose();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        pushing = body.open({
          write(chunk) {
            if (!isOpen) return false;
            controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk.slice());
            return (controller.desiredSize ?? 0) > 0;
          },
          end: () => close(() => controller.close()),
          destroy: () =>
            close(() => controller.error(new Error("The stream was broken off: its reader takes nothing."))),
        });
      },
      pull: () => pushing?.onDrain(),
      cancel: () => close(() => undefined),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: HIGH_WATER_BYTES }),
  );
}
