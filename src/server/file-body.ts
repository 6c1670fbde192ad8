import { createReadStream } from "node:fs";
import { type BodyProducer, type BodySink, PushedBody } from "../http/index.ts";
import type { ByteRange } from "./conditional-request.ts";

/**
 * Returns a response body that streams a part of a file.
 *
 * A file that turns out to be shorter than it was when its headers were made, because it was overwritten meanwhile,
 * breaks off its response: the client would otherwise wait for the rest, and take the next response on the connection
 * for it.
 *
 * @param onFailed receives the reason why a response was broken off
 */
export function fileBody(path: string, { start, end }: ByteRange, onFailed: (error: Error) => void): PushedBody {
  const length = end - start + 1;
  return new PushedBody((sink) => (length === 0 ? endAtOnce(sink) : streamFile(sink)));

  function streamFile(sink: BodySink): BodyProducer {
    const file = createReadStream(path, { start, end });
    const breakOff = (error: Error) => {
      onFailed(error);
      sink.destroy();
    };
    file.on("data", (chunk) => {
      if (!sink.write(chunk)) file.pause();
    });
    file.on("error", breakOff);
    file.on("end", () => {
      if (file.bytesRead === length) return sink.end();
      breakOff(new Error(`${path} changed while it was sent: ${file.bytesRead} of ${length} bytes were read.`));
    });
    return { onDrain: () => void file.resume(), onClose: () => void file.destroy() };
  }
}

function endAtOnce(sink: BodySink): BodyProducer {
  sink.end();
  return { onDrain: () => undefined, onClose: () => undefined };
}
