import type { FileHandle } from "node:fs/promises";
import {
  type BodyProducer,
  type BodySink,
  type HandlerResponse,
  type InboundRequest,
  PushedBody,
} from "../http/index.ts";
import { type ByteRange, isNotModified, requestedRange, type Validators } from "./conditional-request.ts";
import type { OpenFile } from "./open-file.ts";

/** How a file is sent. */
export interface FileResponseOptions {
  /** The value of `Content-Type`. */
  readonly contentType: string;
  /** The content coding of the file: that of a compressed copy. Such a file has no ranges. */
  readonly coding?: string | null;
  /** Further headers, of responses with status 200, 206 and 304. */
  readonly headers: Readonly<Record<string, string>>;
  /** Called with the reason when a response is aborted. */
  readonly onFailed: (error: Error) => void;
}

/**
 * Returns the response with an open file, or with the part of it that the request asks for. It closes the file.
 *
 * @returns status 304 if the client's copy is current, 206 for a range, 416 for one outside the file, otherwise 200
 * @see RFC 9110, sections 13 and 14
 */
export async function fileResponse(
  inbound: InboundRequest,
  file: OpenFile,
  { contentType, coding = null, headers: ownHeaders, onFailed }: FileResponseOptions,
): Promise<HandlerResponse> {
  const { path, handle, stats } = file;
  const { size } = stats;
  const validators = validatorsOf(file, coding);
  const shared = {
    etag: validators.etag,
    "last-modified": new Date(validators.lastModifiedMs).toUTCString(),
    ...ownHeaders,
  };
  const conditions = {
    ifNoneMatch: inbound.header("if-none-match"),
    ifModifiedSince: inbound.header("if-modified-since"),
  };
  if (isNotModified(conditions, validators)) {
    await handle.close();
    return { status: 304, headers: shared, body: null };
  }
  const range = inbound.method === "GET" ? inbound.header("range") : null;
  const part = requestedRange({ range, ifRange: inbound.header("if-range") }, { size, ...validators });
  if (part === "unsatisfiable") {
    await handle.close();
    return { status: 416, headers: { "content-range": `bytes */${size}`, "cache-control": "no-cache" }, body: null };
  }
  const { start, end } = part ?? { start: 0, end: size - 1 };
  const headers = {
    "content-type": contentType,
    "content-length": String(end - start + 1),
    ...(coding ? { "content-encoding": coding } : { "accept-ranges": "bytes" }),
    ...(part ? { "content-range": `bytes ${start}-${end}/${size}` } : {}),
    ...shared,
  };
  if (inbound.method === "HEAD") {
    await handle.close();
    return { status: 200, headers, body: null };
  }
  return { status: part ? 206 : 200, headers, body: fileBody({ path, handle }, { start, end }, onFailed) };
}

/** Weak entity tags of size, time and coding: the bytes are not read. */
function validatorsOf({ stats: { size, mtimeMs } }: OpenFile, coding: string | null): Validators {
  const parts = [size.toString(16), Math.trunc(mtimeMs).toString(16), ...(coding ? [coding] : [])];
  const nowMs = Date.now(); // a time in the future would be invalid, RFC 9110, section 8.8.2.1
  return { etag: `W/"${parts.join("-")}"`, lastModifiedMs: Math.floor(Math.min(mtimeMs, nowMs) / 1000) * 1000 };
}

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
function fileBody(
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
