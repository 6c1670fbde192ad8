import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  acceptedCodings,
  contentTypeOf,
  fileResponse,
  isCompressible,
  mediaTypeOf,
  type OpenFile,
  openFile,
} from "../files/index.ts";
import type { HandlerResponse, InboundRequest } from "../http/index.ts";
import type { Logger } from "../logging/index.ts";
import { CODINGS, type Coding } from "./page-compression.ts";

/** The browser's files of a built application. */
export interface StaticFiles {
  /** Returns whether a request is one for a file of the build. Only method and path are checked. */
  has(inbound: InboundRequest, path: string): boolean;
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
  /** Whether the compressed copies are sent to clients that accept them. Default: yes. */
  readonly isCompressed?: boolean;
  /** The paths of the files whose names contain a hash of their content. Default: none. */
  readonly hashed?: readonly string[];
}

const YEAR_SECONDS = 31_536_000;

/** The file extensions of the build's compressed copies, by their content codings. */
const EXTENSIONS: Readonly<Record<Coding, string>> = { br: ".br", gzip: ".gz" };

/** A file as it is sent: itself, or its compressed copy. */
interface Representation extends OpenFile {
  readonly coding: Coding | null;
}

/**
 * Returns a handler for the files that the build wrote; it serves no others. Browsers cache a file with a hash in its
 * name for a year, and revalidate all others on each use. The build also wrote the compressed copies.
 *
 * @param files their paths, such as `/assets/app-1a2b3c.js`. In development, a function that returns whether a
 *   file of the folder is served. Browsers then revalidate all files
 */
export function createStaticFiles(
  files: readonly string[] | ((path: string) => boolean),
  options: StaticFilesOptions,
): StaticFiles {
  const isBuild = typeof files !== "function";
  const listed = new Set(isBuild ? files : []);
  const immutable = new Set(options.hashed);
  const isCompressed = options.isCompressed ?? true;
  const isServed = (file: string) => isPublic(file) && (isBuild || files(file));
  const dir = options.dir ?? fileURLToPath(new URL("./client/", import.meta.url));
  const onFailed = (err: Error) => options.log.error({ err }, "A file could not be sent");
  const reportMissingFolder = reportOnce(dir, options.log);
  let root: Promise<string> | undefined;
  /** Returns the decoded path of the requested file, or `null`. */
  const findFile = ({ method }: InboundRequest, path: string) => {
    if (method !== "GET" && method !== "HEAD") return null;
    // An encoded slash would give a file a second path, to which a rule of a proxy for its folder does not apply.
    if (/%2f/i.test(path)) return null;
    const file = path.includes("%") ? decodeURIComponent(path) : path; // malformed paths were rejected before
    return isServed(file) && (!isBuild || listed.has(file)) ? file : null;
  };
  return {
    has: (inbound, path) => findFile(inbound, path) !== null,
    handle(inbound, path) {
      const file = findFile(inbound, path);
      if (file === null) return null;
      root ??= realpath(dir).catch(() => {
        root = undefined; // the folder is missing; it may exist for the next request
        reportMissingFolder();
        return dir;
      });
      return respondWithFile(inbound, {
        dir,
        root,
        file,
        isServed,
        isImmutable: immutable.has(file),
        isCompressed,
        onFailed,
      });
    },
  };
}

/** Returns a function that logs once that the folder of the files is missing: a bundler may have moved the application. */
function reportOnce(dir: string, log: Logger): () => void {
  let isReported = false;
  return () => {
    if (isReported) return;
    isReported = true;
    log.error({ dir }, "The browser's files are missing. Keep dist/app.mjs next to dist/client/, and do not bundle it");
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
  /** Returns whether a path below the folder may be served. */
  readonly isServed: (path: string) => boolean;
  /** Whether its compressed copies are sent. */
  readonly isCompressed: boolean;
  /** Whether the name has a hash of the content. */
  readonly isImmutable: boolean;
  readonly onFailed: (error: Error) => void;
}

async function respondWithFile(
  inbound: InboundRequest,
  { dir, root, file, isServed, isImmutable, isCompressed, onFailed }: RequestedFile,
): Promise<HandlerResponse | null> {
  const mediaType = mediaTypeOf(file);
  const range = inbound.method === "GET" ? inbound.header("range") : null;
  const isRanged = range?.startsWith("bytes=") ?? false;
  const hasCopies = isCompressed && isCompressible(mediaType);
  const codings = hasCopies && !isRanged ? inbound.header("accept-encoding") : null;
  const chosen = await openRepresentation(join(dir, file), codings, { root: await root, isServed });
  if (!chosen) return null; // it was deleted after the build
  return fileResponse(inbound, chosen, {
    contentType: contentTypeOf(mediaType),
    coding: chosen.coding,
    headers: {
      ...(hasCopies ? { vary: "Accept-Encoding" } : {}),
      "cache-control": isImmutable ? `max-age=${YEAR_SECONDS}, immutable` : "no-cache",
    },
    onFailed,
  });
}

/** The folder of the files: its path without symbolic links. */
interface ServedFolder extends Pick<RequestedFile, "isServed"> {
  readonly root: string;
}

async function openRepresentation(
  path: string,
  acceptEncoding: string | null,
  folder: ServedFolder,
): Promise<Representation | null> {
  for (const coding of acceptedCodings(acceptEncoding, CODINGS)) {
    const copy = await openFile(path + EXTENSIONS[coding], folder);
    if (copy) return { ...copy, coding };
  }
  const file = await openFile(path, folder);
  return file && { ...file, coding: null };
}

/** A file that the application makes when it starts. No build can contain it: it follows from the options of `new App`. */
export interface GeneratedFile {
  /** Its path, without the base. It changes with the content. */
  readonly path: string;
  readonly type: string;
  readonly text: string;
}

/** Returns a file whose path has a hash of its content: `/assets/<name>-<hash>.<extension>`. */
export function generateFile(
  name: string,
  extension: string,
  { type, text }: Pick<GeneratedFile, "type" | "text">,
): GeneratedFile {
  const hash = createHash("sha256").update(text).digest("base64url").slice(0, 8);
  return { path: `/assets/${name}-${hash}.${extension}`, type, text };
}

/** Returns the headers of a generated file. Its path changes with its content. */
export function generatedHeaders({ type }: GeneratedFile): Readonly<Record<string, string>> {
  return { "content-type": type, "cache-control": "public, max-age=31536000, immutable" };
}

/** Returns the style sheet that makes browsers fade from one page to the next. A policy may forbid styles in the document. */
export function transitionStyles(): GeneratedFile {
  const text = "@media (prefers-reduced-motion:no-preference){@view-transition{navigation:auto}}\n";
  return generateFile("transitions", "css", { type: "text/css; charset=utf-8", text });
}

/** Returns files that contain generated ones too. Browsers cache these for a year. */
export function withGeneratedFiles(
  files: StaticFiles | null,
  generated: Readonly<Record<string, GeneratedFile | null>>,
): StaticFiles | null {
  const responses = new Map<string, HandlerResponse>();
  for (const file of Object.values(generated)) {
    if (file) responses.set(file.path, { status: 200, headers: generatedHeaders(file), body: file.text });
  }
  if (responses.size === 0) return files;
  const find = ({ method }: InboundRequest, path: string) =>
    method === "GET" || method === "HEAD" ? responses.get(path) : undefined;
  return {
    has: (inbound, path) => find(inbound, path) !== undefined || (files?.has(inbound, path) ?? false),
    handle(inbound, path) {
      const response = find(inbound, path);
      return response ? Promise.resolve(response) : (files?.handle(inbound, path) ?? null);
    },
  };
}
