import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeRequest } from "srvx/node";
import { BodyGone, type Outgoing } from "../http/index.ts";

/** What Express, its parsers and their like leave on a request. */
interface Mounted extends IncomingMessage {
  /** The target as it came: below a prefix, `url` has lost it. */
  readonly originalUrl?: unknown;
  /** What a parser made of the body. */
  readonly body?: unknown;
  /** The body as it came, where it was kept; the request reads it by itself. */
  rawBody?: unknown;
}

/** Gives the whole target of a request: below a prefix, Express leaves `url` without it. */
export function targetOf(request: Mounted): string {
  return typeof request.originalUrl === "string" ? request.originalUrl : (request.url ?? "");
}

/** A request by the Fetch standard, over one of Node's. */
export type FetchRequest = InstanceType<typeof NodeRequest>;

/** Gives a request as the Fetch standard has it, whatever it passed through before it came here. */
export function asFetch(request: IncomingMessage, response: ServerResponse): FetchRequest {
  const context = { req: request, res: response };
  const asked = restoreBody(request) ? new NodeRequest(context) : new BodilessRequest(context);
  const url = mountedUrl(request);
  if (url) asked._url = url;
  return asked;
}

/** Gives the address of a request whose target is not what `url` says; `null` where it is. */
function mountedUrl(request: Mounted): URL | null {
  const target = targetOf(request);
  if (target === request.url) return null;
  const scheme = "encrypted" in request.socket ? "https" : "http";
  return new URL(`${scheme}://${request.headers.host ?? "localhost"}${target}`);
}

/**
 * Gives a request its body back that was read before us: JSON is written anew, text and bytes are
 * as they came.
 *
 * @returns whether it has one to be read; a form that was taken apart cannot be put together
 */
function restoreBody(request: Mounted): boolean {
  if (!request.readableEnded || Buffer.isBuffer(request.rawBody) || !hasBody(request)) return true;
  const bytes = bytesOf(request);
  if (bytes === null) return false;
  request.rawBody = bytes;
  return true;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function bytesOf({ body, headers }: Mounted): Buffer | null {
  if (body === undefined) return null;
  const isJson = /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(headers["content-type"] ?? "");
  if (isJson && !Buffer.isBuffer(body)) return Buffer.from(JSON.stringify(body));
  return typeof body === "string" || body instanceof Uint8Array ? Buffer.from(body as string) : null; // or bytes
}

/**
 * Puts the cookies of an answer beside those that were set before us, and gives the answer without
 * them. On a response that has headers already, Node keeps the last line alone of a name that comes
 * again: of two cookies, one would be lost.
 */
export function withCookiesApart(outgoing: Outgoing | Response, response: ServerResponse): Outgoing | Response {
  if (response.getHeaderNames().length === 0) return outgoing;
  if (outgoing instanceof Response) {
    const cookies = outgoing.headers.getSetCookie();
    if (cookies.length > 0) response.appendHeader("set-cookie", cookies);
    outgoing.headers.delete("set-cookie");
    return outgoing;
  }
  const headers: string[] = [];
  for (let i = 0; i < outgoing.headers.length; i += 2) {
    const [name = "", value = ""] = outgoing.headers.slice(i, i + 2);
    if (name === "set-cookie") response.appendHeader(name, value);
    else headers.push(name, value);
  }
  return { ...outgoing, headers };
}

/** A request whose body is gone: whoever reads it is told so. */
class BodilessRequest extends NodeRequest {
  override get body(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return new ReadableStream({
      pull() {
        throw gone();
      },
    });
  }

  override text(): Promise<string> {
    return Promise.reject(gone());
  }

  override json(): Promise<never> {
    return Promise.reject(gone());
  }
}

function gone(): BodyGone {
  return new BodyGone(
    "The request's body was read before the application got it. Mount the application before what parses bodies, " +
      "or hand on what was parsed as the body of the request: Object.assign(request.raw, { body: request.body }).",
  );
}
