import {
  FetchInboundRequest,
  keepInMemory,
  readUrl,
  toFetchResponse,
  unreadableRequestResponse,
} from "../http/index.ts";
import { handleRequest } from "./pipeline.ts";
import type { Site } from "./site.ts";

/**
 * Handles a Fetch `Request`. Never rejects: runtimes answer a rejection with an error page of their own, which may show
 * the stack and the source to the client (Bun does).
 *
 * @param info the second argument of `app.fetch`, which hosts may fill with objects of their own
 */
export async function handleFetch(request: Request, info: unknown, site: Site): Promise<Response> {
  const release = keepInMemory(request);
  try {
    requireRequest(request);
    const address = site.readAddress(info);
    const url = readUrl(request);
    if (!url) return toFetchResponse(unreadableRequestResponse(request.url, (name) => request.headers.get(name)));
    return toFetchResponse(await handleRequest(new FetchInboundRequest(request, address, url), site));
  } catch (error) {
    site.log.error({ err: error }, "A response could not be created");
    return new Response(null, { status: 500 });
  } finally {
    release();
  }
}

/** @throws TypeError for a URL, which `fetch` of browsers takes too */
function requireRequest(request: unknown): void {
  const isUrl = typeof request === "object" && request !== null && "href" in request;
  if (typeof request !== "string" && !isUrl) return;
  // A relative URL has no host. What follows the path may be a secret.
  const [path = "/"] = String(request).split(/[?#]/);
  const url = URL.canParse(path) ? path : `http://localhost${path.startsWith("/") ? "" : "/"}${path}`;
  throw new TypeError(
    `app.fetch takes a Request, and received the URL ${JSON.stringify(path)}. Write app.fetch(new Request(${JSON.stringify(url)})).`,
  );
}
