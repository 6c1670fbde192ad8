import type { FileHandle } from "node:fs/promises";
import { type BodyProducer, type BodySink, PushedBody } from "../http/index.ts";
import type { ByteRange } from "./conditional-request.ts";

/** An open file, and its path for messages. */
interface NamedHandle {
  readonly path: string;
  readonly handle: FileHandle;
}

/**
 * Returns a response body that streams a part of an open file. It closes the file when the body has ended.
 *
 * The response is aborted if the file has become shorter since its headers were written. Otherwise the client would wait
 * for the rest of the file, and read the next response on the connection as that rest.
 *
 * @param onFailed called with the reason when a response is aborted
 */
export function fileBody(
  { path, handle }: NamedHandle,
  { start, end }: ByteRange,
  onFailed: (error: Error) => void,
): PushedBody {
  const length = end - start + 1;
  return new PushedBody((sink) => (length === 0 ? endAtOnce(sink) : streamFile(sink)));

  function streamFile(sink: BodySink): BodyProducer {
    const file = handle.createReadStream({ start, end });
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

  function endAtOnce(sink: BodySink): BodyProducer {
    handle.close().catch(onFailed);
    sink.end();
    return { onDrain: () => undefined, onClose: () => undefined };
  }
}
