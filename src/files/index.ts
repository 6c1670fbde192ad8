/**
 * Files that are sent: ranges, conditional requests, content types, and the names under which browsers save them. Used
 * for the files of a build, and by routes with `send_file`.
 */
import { realpath } from "node:fs/promises";
import { extname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { RPCError } from "../errors.ts";
import { type HandlerResponse, isPushedBody, PRIVATE_NO_CACHE, requireContext } from "../http/index.ts";
import { fileResponse, openFile } from "./file-response.ts";

export { acceptedCodings, fileResponse, matchesEtag, type OpenFile, openFile } from "./file-response.ts";

/** The options of {@link send_file}. */
export interface SendFileOptions {
  /** The folder of the files: an absolute path, or a URL such as `new URL("../files/", import.meta.url)`. */
  readonly root: string | URL;
  /** The path of the file in the folder. It may come from the request: nothing outside the folder is sent. */
  readonly name: string;
  /** The name under which the browser saves the file. Default: that of the file. */
  readonly save_as?: string;
  /** Whether the browser shows the file, in a sandbox without scripts, instead of saving it. Default: `false`. */
  readonly inline?: boolean;
  /** The media type. Default: by the extension of the file. */
  readonly type?: string;
}

/**
 * Resolves with the response that sends a file, for routes: with ranges, `ETag` and conditional requests. The browser
 * saves it under its name, or shows it with `inline`. Caches of browsers may store it and ask again before each use.
 *
 * Hidden files, and files that a symbolic link outside the folder leads to, are not sent.
 *
 * @throws RPCError `not_found` if there is no such file in the folder
 * @throws Error for a relative `root` or an invalid `type`, which the client does not see
 * @throws Error outside a request
 * @see docs/files.md
 * @example export const invoice = route("GET /invoices/:id", ({}, { id }) => send_file({ root: "/srv/invoices", name: `${id}.pdf` }));
 */
export async function send_file({ root, name, save_as, inline = false, type }: SendFileOptions): Promise<Response> {
  const { inbound } = requireContext("send_file()");
  const folder = checkRoot(root);
  const mediaType = checkType(type) ?? mediaTypeOf(name);
  const file = isSafeName(name) ? await openIn(folder, name) : null;
  if (!file) throw new RPCError("not_found", "There is no file with this name.");
  const response = await fileResponse(inbound, file, {
    contentType: contentTypeOf(mediaType),
    headers: {
      ...PRIVATE_NO_CACHE,
      "content-disposition": contentDisposition(inline ? "inline" : "attachment", save_as ?? name),
      // What a user has uploaded must not run scripts with the origin of the application.
      ...(inline ? { "content-security-policy": "sandbox" } : {}),
    },
    onFailed: () => undefined, // the error of the stream is logged by the adapter
  });
  return toResponse(response);
}

async function openIn(folder: string, name: string) {
  const root = await realpath(folder).catch(() => null);
  return root === null ? null : openFile(join(root, name), { root, isServed: isSafeName });
}

/** Returns whether a path stays inside its folder, on every system, and no part of it is hidden. */
function isSafeName(name: string): boolean {
  // A colon names a drive or a stream of a file on Windows; a backslash separates folders there.
  if (/[\0\\]/.test(name) || (process.platform === "win32" && name.includes(":"))) return false;
  const parts = name.replace(/^\//, "").split("/");
  return parts.every((part) => part !== "" && !part.startsWith("."));
}

function checkRoot(root: string | URL): string {
  const path = typeof root === "string" ? root : fileURLToPath(root);
  if (isAbsolute(path)) return path;
  throw new Error(
    `send_file(): root is ${JSON.stringify(path)}. It must be an absolute path, or new URL("../files/", import.meta.url).`,
  );
}

function checkType(type: string | undefined): string | undefined {
  if (type === undefined || /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(type)) return type;
  throw new Error(`send_file(): type is ${JSON.stringify(type)}. It must be a media type, such as "image/png".`);
}

function toResponse({ status, headers = {}, body }: HandlerResponse): Response {
  return new Response(isPushedBody(body) ? body.toStream() : body, { status, headers });
}

/** The name of a download without a usable name of its own. */
const DEFAULT_NAME = "download";

/**
 * Returns the value of `Content-Disposition` for a file that the browser saves or shows under any Unicode name.
 *
 * A name outside ASCII is sent twice: encoded for all browsers of today (RFC 8187), and with `_` in place of what ASCII
 * lacks for all others. Folders and control characters are removed, so that the name cannot add a header or a path.
 *
 * @see RFC 6266, appendix D
 */
export function contentDisposition(type: "attachment" | "inline", name: string): string {
  const clean = cleanName(name);
  const ascii = clean.replace(/[^\x20-\x7e]|["\\%]/gu, "_");
  const plain = `${type}; filename="${ascii}"`;
  return ascii === clean ? plain : `${plain}; filename*=UTF-8''${encodeValue(clean)}`;
}

function cleanName(name: string): string {
  const last = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  const clean = last.replace(/\p{Cc}|\p{Surrogate}/gu, "");
  return clean === "" || clean === "." || clean === ".." ? DEFAULT_NAME : clean;
}

/** Encodes everything but `attr-char`. @see RFC 8187, section 3.2.1 */
function encodeValue(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Media types by file extension. @see https://www.iana.org/assignments/media-types */
const MEDIA_TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ".html": "text/html",
    ".htm": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".json": "application/json",
    ".map": "application/json",
    ".webmanifest": "application/manifest+json",
    ".txt": "text/plain",
    ".xml": "application/xml",
    ".wasm": "application/wasm",
    ".gif": "image/gif",
    ".ico": "image/vnd.microsoft.icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".otf": "font/otf",
    ".ttf": "font/ttf",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".mp3": "audio/mpeg",
    ".mp4": "video/mp4",
    ".webm": "video/webm",
    ".zip": "application/zip",
    ".gz": "application/gzip",
    ".pdf": "application/pdf",
  }),
);

/** Returns a file's media type, `application/octet-stream` for an unknown extension. */
export function mediaTypeOf(file: string): string {
  return MEDIA_TYPES.get(extname(file).toLowerCase()) ?? "application/octet-stream";
}

/** Returns the `Content-Type` of a media type: text is UTF-8. */
export function contentTypeOf(mediaType: string): string {
  return mediaType.startsWith("text/") ? `${mediaType}; charset=utf-8` : mediaType;
}

/** The media types besides text, JSON and XML whose files are not compressed in themselves. */
const COMPRESSIBLE = new Set(["application/wasm", "font/otf", "font/ttf", "image/vnd.microsoft.icon"]);

/** Returns whether files of a media type may have compressed copies. */
export function isCompressible(mediaType: string): boolean {
  return (
    mediaType.startsWith("text/") ||
    /[+/](json|xml)$/.test(mediaType) || // also image/svg+xml
    COMPRESSIBLE.has(mediaType)
  );
}
