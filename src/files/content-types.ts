import { extname } from "node:path";

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
