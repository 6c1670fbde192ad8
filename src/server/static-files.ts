import { constants, type Stats } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { HandlerResponse, InboundRequest } from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import { acceptedCodings, isNotModified, requestedRange, type Validators } from "./conditional-request.ts";
import { contentTypeOf, isCompressible, mediaTypeOf } from "./content-types.ts";
import { fileBody } from "./file-body.ts";

/** The browser's files of a built application. */
export interface StaticFiles {
  /**
   * Returns the response for a file; `null` for another method, and for any path that is not a file of the build.
   * Only method and path are checked, synchronously, so that requests for pages have no extra cost.
   */
  handle(inbound: InboundRequest, path: string): Promise<HandlerResponse | null> | null;
}

/** The options of {@link createStaticFiles}. */
export interface StaticFilesOptions {
  readonly log: Logger;
  /** The folder of the files. Default: `client/` beside the built application. */
  readonly dir?: string;
}

const YEAR_SECONDS = 31_536_000;

/** The content codings of the build's compressed copies, in order of preference, and their file extensions. */
const EXTENSIONS = { br: ".br", gzip: ".gz" } as const;
const CODINGS = ["br", "gzip"] as const;

/** With `O_NONBLOCK`, which Windows lacks, opening a named pipe does not wait for a writer. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** An open file. The code that receives it closes the handle. */
interface OpenFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly stats: Stats;
}

/** A file as it is sent: itself, or its compressed copy. */
interface Representation extends OpenFile {
  readonly coding: (typeof CODINGS)[number] | null;
}

/**
 * Returns a handler for the files that the build wrote; it serves no others. Browsers cache a file with a hash in its
 * name for a year, and revalidate all others on each use. The build also wrote the compressed copies.
 *
 * @param files their paths, such as `/assets/app-1a2b3c.js`
 */
export function createStaticFiles(files: readonly string[], options: StaticFilesOptions): StaticFiles {
  const publicFiles = new Set(files.filter(isPublic));
  const dir = options.dir ?? fileURLToPath(new URL("./client/", import.meta.url));
  const onFailed = (err: Error) => options.log.error({ err }, "A file could not be sent");
  let root: Promise<string> | undefined;
  return {
    handle(inbound, path) {
      if (inbound.method !== "GET" && inbound.method !== "HEAD") return null;
      const file = path.includes("%") ? decodeURIComponent(path) : path; // malformed paths were rejected before
      if (!publicFiles.has(file)) return null;
      root ??= realpath(dir).catch(() => {
        root = undefined; // the folder is missing; it may exist for the next request
        return dir;
      });
      return respondWithFile(inbound, { dir, root, file, onFailed });
    },
  };
}

/** Hidden files such as `.env` are never served, also when they were copied from `public/`. @see RFC 8615 */
function isPublic(file: string): boolean {
  return file.split(/[/\\]/).every((name) => !name.startsWith(".") || name === ".well-known");
}

interface RequestedFile {
  readonly dir: string;
  /** The path of the folder without symbolic links. */
  readonly root: Promise<string>;
  readonly file: string;
  readonly onFailed: (error: Error) => void;
}

async function respondWithFile(
  inbound: InboundRequest,
  { dir, root, file, onFailed }: RequestedFile,
): Promise<HandlerResponse | null> {
  const mediaType = mediaTypeOf(file);
  const range = inbound.method === "GET" ? inbound.header("range") : null;
  const isRanged = range?.startsWith("bytes=") ?? false;
  const codings = isCompressible(mediaType) && !isRanged ? inbound.header("accept-encoding") : null;
  const chosen = await openRepresentation(join(dir, file), codings, await root);
  if (!chosen) return null; // it was deleted after the build
  const { path, handle, stats, coding } = chosen;
  const { size } = stats;
  const validators = validatorsOf(chosen);
  const shared = {
    etag: validators.etag,
    "last-modified": new Date(validators.lastModifiedMs).toUTCString(),
    ...(isCompressible(mediaType) ? { vary: "Accept-Encoding" } : {}),
    "cache-control": file.startsWith("/assets/") ? `max-age=${YEAR_SECONDS}, immutable` : "no-cache",
  };
  const conditions = {
    ifNoneMatch: inbound.header("if-none-match"),
    ifModifiedSince: inbound.header("if-modified-since"),
  };
  if (isNotModified(conditions, validators)) {
    await handle.close();
    return { status: 304, headers: shared, body: null };
  }

  const part = requestedRange({ range, ifRange: inbound.header("if-range") }, { size, ...validators });
  if (part === "unsatisfiable") {
    await handle.close();
    return { status: 416, headers: { "content-range": `bytes */${size}`, "cache-control": "no-cache" }, body: null };
  }
  const { start, end } = part ?? { start: 0, end: size - 1 };
  const headers = {
    "content-type": contentTypeOf(mediaType),
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

async function openRepresentation(
  path: string,
  acceptEncoding: string | null,
  root: string,
): Promise<Representation | null> {
  for (const coding of acceptedCodings(acceptEncoding, CODINGS)) {
    const copy = await openFile(path + EXTENSIONS[coding], root);
    if (copy) return { ...copy, coding };
  }
  const file = await openFile(path, root);
  return file && { ...file, coding: null };
}

/**
 * Opens a file before its headers are made: headers and body are then of one version, even if a deployment replaces
 * the file meanwhile.
 *
 * @returns `null` for a missing file, for anything but a regular file, and for a symbolic link that leads out of the
 *   folder or to a hidden file
 */
async function openFile(path: string, root: string): Promise<OpenFile | null> {
  const handle = await open(path, OPEN_FLAGS).catch(() => null);
  if (!handle) return null;
  try {
    const stats = await handle.stat();
    const target = await realpath(path);
    if (stats.isFile() && target.startsWith(root + sep) && isPublic(target.slice(root.length))) {
      return { path, handle, stats };
    }
  } catch {
    // It was deleted after it was opened.
  }
  await handle.close();
  return null;
}

/** Weak entity tags of size, time and coding: the bytes are not read. */
function validatorsOf({ stats: { size, mtimeMs }, coding }: Representation): Validators {
  const parts = [size.toString(16), Math.trunc(mtimeMs).toString(16), ...(coding ? [coding] : [])];
  const nowMs = Date.now(); // a time in the future would be invalid, RFC 9110, section 8.8.2.1
  return { etag: `W/"${parts.join("-")}"`, lastModifiedMs: Math.floor(Math.min(mtimeMs, nowMs) / 1000) * 1000 };
}
