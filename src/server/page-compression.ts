import { promisify } from "node:util";
import type { BrotliCompress, Gzip } from "node:zlib";
import { acceptedCodings } from "../files/index.ts";
import {
  type HandlerResponse,
  isReadableStream,
  isResponse,
  type RequestContext,
  type ResponseSecurity,
  varying,
} from "../http/index.ts";
import type { PageSettings } from "../pages/index.ts";

/** The content codings of pages, and of the build's compressed copies of files, in order of preference. */
export const CODINGS = ["br", "gzip"] as const;

export type Coding = (typeof CODINGS)[number];

/** The size from which pages are compressed, in bytes. Smaller ones fit into one packet. */
export const MIN_COMPRESSED_BYTES = 1024;

/** What decides whether and how a page is compressed. Headers are `null` if they are absent. */
export interface PageFacts {
  /** The size of its HTML. */
  readonly bytes: number;
  /** `Accept-Encoding` of the request. */
  readonly acceptEncoding: string | null;
  /** `Sec-Fetch-Site` of the request: which site has caused it. */
  readonly fetchSite: string | null;
  /** Whether the page may contain what only this client may see: the request, or the response, has a cookie or a password. */
  readonly isPersonal: boolean;
  /** `Cache-Control` of the response. */
  readonly cacheControl: string | null;
  /** `ETag` of the response. */
  readonly etag: string | null;
  /** `Content-Encoding` of the response. */
  readonly contentEncoding: string | null;
}

/**
 * Returns the content coding in which a page is sent; `null` if it is not compressed.
 *
 * The size of a compressed page depends on how often a text repeats in it. An attacker who makes a browser request a page with
 * a chosen text in it, for example in the query, and who sees the size of the response, can guess a secret of the page letter by
 * letter (BREACH). So a personal page is compressed only if the browser says that no other site has caused the request:
 * `same-origin`, or `none` for an address that the user has entered. `same-site` is another origin. Without the header, it may be
 * any site. A page that is not personal contains nothing that an attacker could not request.
 *
 * @see RFC 9110, sections 8.8.3.3 and 12.5.3; RFC 9111, section 5.2.2.6; Fetch Metadata Request Headers, section 2.4
 */
export function pageCoding(facts: PageFacts): Coding | null {
  const { bytes, acceptEncoding, fetchSite, isPersonal, cacheControl, etag, contentEncoding } = facts;
  if (bytes < MIN_COMPRESSED_BYTES || contentEncoding !== null) return null;
  if (isPersonal && fetchSite !== "same-origin" && fetchSite !== "none") return null;
  if (/(?:^|,)\s*no-transform\s*(?:,|$)/i.test(cacheControl ?? "")) return null;
  if (etag !== null && !etag.startsWith("W/")) return null; // a strong one names the bytes of the page as it is
  return acceptedCodings(acceptEncoding, CODINGS)[0] ?? null;
}

/**
 * Returns the response of a page or a form as it is sent: compressed, if {@link pageCoding} allows it. Other responses, such as
 * those of routes, stay as they are, and all of them in the development server, which reads pages.
 */
export function compressPage(
  response: HandlerResponse | Response,
  context: RequestContext,
  { pages, security }: { readonly pages: PageSettings; readonly security: ResponseSecurity },
): HandlerResponse | Response | Promise<HandlerResponse> {
  if (!context.config.compress || pages.development || isResponse(response)) return response;
  const { body, headers = {} } = response;
  if (typeof body !== "string" && !isReadableStream(body)) return response;
  if (!headers["content-type"]?.startsWith("text/html")) return response;
  const { inbound, responseHeaders } = context;
  const optionOf = (name: string) => (response.security ?? security.documents).find(([option]) => option === name)?.[1];
  const headerOf = (name: string) => {
    const set = responseHeaders?.get(name);
    return headers[name] ?? (set === undefined ? optionOf(name) : set) ?? null;
  };
  const coding = pageCoding({
    bytes: typeof body === "string" ? Buffer.byteLength(body) : MIN_COMPRESSED_BYTES, // that of a page with parts is not known
    acceptEncoding: inbound.header("accept-encoding"),
    fetchSite: inbound.header("sec-fetch-site"),
    isPersonal: isPersonal(context),
    cacheControl: headerOf("cache-control"),
    etag: headerOf("etag"),
    contentEncoding: headerOf("content-encoding"),
  });
  const varied = { ...response, headers: varying(response.headers, withAcceptEncoding(headerOf("vary"))) };
  if (!coding) return varied;
  return typeof body === "string" ? compress(varied, body, coding) : compressParts(varied, body, coding);
}

function isPersonal({ inbound, setCookieHeaders }: RequestContext): boolean {
  if (inbound.header("cookie") !== null || inbound.header("authorization") !== null) return true;
  for (const _ of setCookieHeaders) return true;
  return false;
}

/** Adds `Accept-Encoding` to the value of a `Vary` header. */
function withAcceptEncoding(vary: string | null): string {
  if (!vary) return "Accept-Encoding";
  return /(?:^|,)\s*(?:\*|accept-encoding)\s*(?:,|$)/i.test(vary) ? vary : `${vary}, Accept-Encoding`;
}

async function compress(response: HandlerResponse, html: string, coding: Coding): Promise<HandlerResponse> {
  const compressed = await compressHtml(Buffer.from(html), coding);
  return { ...response, headers: { ...response.headers, "content-encoding": coding }, body: compressed };
}

/** Returns HTML in a content coding. */
export async function compressHtml(html: Uint8Array, coding: Coding): Promise<Uint8Array<ArrayBuffer>> {
  return (await compressors())[coding](html);
}

/** The pages with parts that are compressed at the moment, by their compressors. */
let openCompressors = 0;

/** How many pages with parts are compressed at once: each takes up to a megabyte while its parts run. Others are sent as they are. */
const MAX_OPEN_COMPRESSORS = 128;

/** Compresses a page with parts: each chunk is complete for the browser when it is sent. */
async function compressParts(
  response: HandlerResponse,
  body: ReadableStream<Uint8Array>,
  coding: Coding,
): Promise<HandlerResponse> {
  if (openCompressors >= MAX_OPEN_COMPRESSORS) return response;
  openCompressors++;
  const compressor = (await compressors()).open[coding]();
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    openCompressors--;
    compressor.close();
  };
  let isClosed = false;
  const reader = body.getReader();
  const compressed = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          const bytes = await (done ? compressor.end() : compressor.write(value));
          if (bytes.length > 0) controller.enqueue(bytes);
          if (!done) return;
          close();
          controller.close();
        } catch (error) {
          close();
          throw error; // the stream fails with it
        }
      },
      cancel(reason) {
        close();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return { ...response, headers: { ...response.headers, "content-encoding": coding }, body: compressed };
}

/** The compressor of a page with parts. */
interface OpenCompressor {
  /** Resolves with what the browser needs to read all that was written so far. */
  write(bytes: Uint8Array): Promise<Uint8Array>;
  end(): Promise<Uint8Array>;
  close(): void;
}

/** A transform of `node:zlib`. */
type ZlibStream = BrotliCompress | Gzip;

function openCompressor(stream: ZlibStream): OpenCompressor {
  let chunks: Buffer[] = [];
  let fail: ((error: Error) => void) | undefined;
  stream.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", (error) => fail?.(error));
  const collect = (start: (done: () => void) => void) =>
    new Promise<Uint8Array>((resolve, reject) => {
      fail = reject;
      start(() => {
        resolve(Buffer.concat(chunks));
        chunks = [];
      });
    });
  return {
    write: (bytes) =>
      collect((done) => {
        stream.write(bytes);
        stream.flush(done);
      }),
    end: () =>
      collect((done) => {
        stream.once("end", done);
        stream.end();
      }),
    close: () => stream.destroy(),
  };
}

interface Compressors extends Readonly<Record<Coding, (bytes: Uint8Array) => Promise<Uint8Array<ArrayBuffer>>>> {
  /** Open compressors of pages with parts. */
  readonly open: Readonly<Record<Coding, () => OpenCompressor>>;
}

/** Loaded with the first page that is compressed: a start without one is faster. They run in threads of Node. */
let loading: Promise<Compressors> | undefined;

function compressors(): Promise<Compressors> {
  loading ??= loadCompressors();
  return loading;
}

async function loadCompressors(): Promise<Compressors> {
  const { brotliCompress, constants, createBrotliCompress, createGzip, gzip } = await import("node:zlib");
  const [compressBrotli, compressGzip] = [promisify(brotliCompress), promisify(gzip)];
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 4, // higher ones take several times as long for a few percent
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_LGWIN]: 18, // 256 KiB: larger windows only take memory for pages
  };
  return {
    br: (bytes) => compressBrotli(bytes, { params: { ...params, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
    gzip: (bytes) => compressGzip(bytes),
    open: {
      br: () => openCompressor(createBrotliCompress({ params })),
      gzip: () => openCompressor(createGzip()),
    },
  };
}
