import { createReadStream } from "node:fs";
import { type BodyProducer, type BodySink, PushedBody } from "../http/index.ts";
import type { ByteRange } from "./conditional-request.ts";

/**
 * Returns a response body that streams a part of a file.
 *
 * The response is aborted if the file has become shorter since its headers were written. Otherwise the client would wait
 * for the rest of the file, and read the next response on the connection as that rest.
 *
 * @param onFailed called with the reason when a response is aborted
 */
export function fileBody(path: string, { start, end }: ByteRange, onFailed: (error: Error) => void): PushedBody {
  const length = end - start + 1;
  return new PushedBody((sink) => (length === 0 ? endAtOnce(sink) : streamFile(sink)));

  function streamFile(sink: BodySink): BodyProducer {
    const file = createReadStream(path, { start, end });
    const abort = (error: Error) => {
      onFailed(error);
      sink.destroy();
    };
    file.on("data", (chunk) => {
      if (!sink.write(chunk)) file.pause();
    });
    file.on("error", abort);
    file.on("end", () => {
      if (file.bytesRead === length) return sink.end();
      abort(new Error(`${path} changed while it was sent: ${file.bytesRead} of ${length} bytes were read.`));
    });
    return { onDrain: () => void file.resume(), onClose: () => void file.destroy() };
  }
}

function endAtOnce(sink: BodySink): BodyProducer {
  sink.end();
  return { onDrain: () => undefined, onClose: () => undefined };
}
