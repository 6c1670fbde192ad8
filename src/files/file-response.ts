import { constants, type Stats } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { sep } from "node:path";
import {
  type BodyProducer,
  type BodySink,
  type HandlerResponse,
  type InboundRequest,
  PushedBody,
} from "../http/index.ts";

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

// Content negotiation, conditional requests and ranges: pure functions over header values. RFC 9110, sections 12.5.3, 13, 14.

/** Identifies one version of a file's content. */
interface Validators {
  readonly etag: string;
  /** In milliseconds, whole seconds. */
  readonly lastModifiedMs: number;
}

/** Returns whether the client's copy is current; the response is then 304. `If-None-Match` takes precedence. */
function isNotModified(
  { ifNoneMatch, ifModifiedSince }: { ifNoneMatch: string | null; ifModifiedSince: string | null },
  { etag, lastModifiedMs }: Validators,
): boolean {
  if (ifNoneMatch !== null) return matchesEtag(ifNoneMatch, etag);
  const since = Date.parse(ifModifiedSince ?? "");
  return !Number.isNaN(since) && lastModifiedMs <= since;
}

/** Returns whether the header `If-None-Match` names an entity tag. @see RFC 9110, section 13.1.2 */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.trim() === "*" || ifNoneMatch.split(",").some((tag) => isSame(tag, etag));
}

/** Compares weakly, as RFC 9110, section 13.1.2 requires. */
function isSame(tag: string, etag: string): boolean {
  return tag.trim().replace(/^W\//, "") === etag.replace(/^W\//, "");
}

/** A range of bytes; `end` is the last byte's position. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the part of a file that a `Range` header requests; `null` when the whole file is to be sent: without the
 * header, for another unit, for several ranges, for a malformed one, and when `If-Range` names another version.
 */
function requestedRange(
  { range, ifRange }: { range: string | null; ifRange: string | null },
  { size, lastModifiedMs }: { size: number; lastModifiedMs: number },
): ByteRange | "unsatisfiable" | null {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(range ?? "") ?? [];
  if (first === "" && last === "") return null;
  // The entity tags are weak, and only a strong one can match here. @see RFC 9110, section 13.1.5
  if (ifRange !== null && ifRange.trim() !== new Date(lastModifiedMs).toUTCString()) return null;
  if (first === "") return suffixRange(Number(last), size);
  const start = Number(first);
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== "" && Number(last) < start) return null;
  return start >= size ? "unsatisfiable" : { start, end };
}

function suffixRange(length: number, size: number): ByteRange | "unsatisfiable" {
  if (length === 0 || size === 0) return "unsatisfiable";
  return { start: Math.max(0, size - length), end: size - 1 };
}

/**
 * Returns those of `codings` that a client accepts: those that it prefers first, and otherwise in the order of `codings`.
 *
 * @see RFC 9110, section 12.5.3
 */
export function acceptedCodings<C extends string>(acceptEncoding: string | null, codings: readonly C[]): C[] {
  const weights = new Map<string, number>();
  for (const item of (acceptEncoding ?? "").split(",")) {
    const [coding = "", ...parameters] = item.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => /^q=/i.test(parameter));
    if (coding !== "") weights.set(coding.toLowerCase(), weight ? Number.parseFloat(weight.slice(2)) || 0 : 1);
  }
  const weightOf = (coding: C) => weights.get(coding) ?? weights.get("*") ?? 0;
  return codings.filter((coding) => weightOf(coding) > 0).sort((one, other) => weightOf(other) - weightOf(one));
}

/** With `O_NONBLOCK`, which Windows lacks, opening a named pipe does not wait for a writer. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** An open file. The code that receives it closes the handle. */
export interface OpenFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly stats: Stats;
}

/** The folder of the files. */
interface ServedFolder {
  /** Its path without symbolic links. */
  readonly root: string;
  /** Returns whether a path below the folder, with a slash at its start, may be served. */
  readonly isServed: (path: string) => boolean;
}

/**
 * Opens a file before its headers are made: headers and body are then of one version, even if a deployment replaces
 * the file meanwhile.
 *
 * @returns `null` for a missing file, for anything but a regular file, and for a symbolic link that leads out of the
 *   folder or to a file that is not served
 */
export async function openFile(path: string, { root, isServed }: ServedFolder): Promise<OpenFile | null> {
  const handle = await open(path, OPEN_FLAGS).catch(() => null);
  if (!handle) return null;
  try {
    const stats = await handle.stat();
    const target = await realpath(path);
    if (stats.isFile() && target.startsWith(root + sep) && isServed(target.slice(root.length))) {
      return { path, handle, stats };
    }
  } catch {
    // It was deleted after it was opened.
  }
  await handle.close();
  return null;
}
