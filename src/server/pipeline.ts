import type { Config } from "../config/index.ts";
import {
  belowBase,
  clientAddress,
  complete,
  type Inbound,
  isUsablePath,
  jsonReply,
  type Outgoing,
  PRIVATE,
  Refusal,
  type Reply,
  RequestContext,
  refuseDeclaredTooLarge,
  requestId,
  runInContext,
  type SecurityLines,
  textReply,
  traceParent,
} from "../http/index.ts";
import { inSteps, ready, type Steps } from "../http/maybe-async.ts";
import type { Live } from "../live/index.ts";
import type { Log } from "../logging/index.ts";
import { openapi } from "../openapi/index.ts";
import { answerNotFound, answerPage, answerRoute, type PageSettings } from "../pages/index.ts";
import { OPENAPI_PATH, RPC_PREFIX } from "../protocol/index.ts";
import { answerCall, type CallSettings } from "../rpc/index.ts";
import type { Inspection } from "./inspection.ts";
import type { Router } from "./router.ts";
import type { StaticFiles } from "./static-files.ts";

/** All that a request can lead to: an application, ready to answer. */
export interface Site {
  readonly config: Config;
  readonly log: Log;
  /** The path below which it is served; empty when it has the site to itself. */
  readonly base: string;
  readonly calls: CallSettings;
  readonly live: Live;
  readonly pages: PageSettings;
  readonly router: Router;
  readonly files: StaticFiles | null;
  readonly security: SecurityLines;
  /** Those of pages that say something of their own. */
  readonly pageSecurity: ReadonlyMap<object, SecurityLines>;
  readonly inspection: Inspection;
  /** The version of the project, where the development server has told it. */
  readonly version?: string | undefined;
  /** Whether the process is about to stop. */
  readonly draining: boolean;
}

/** What the host of an application knows of a request beside the request. */
export interface RequestInfo {
  /** The address of the connection's other end; proxies are seen through as `WEB_TRUST_PROXY` says. */
  readonly address?: string;
}

/**
 * Takes a request the whole way, top to bottom: its ids, its path, then a call, live updates, a
 * file, a raw route or a page. Whatever happens on the way, there is an answer, with the ids and the security headers.
 */
export function answerRequest(inbound: Inbound, site: Site): Outgoing | Response | Promise<Outgoing | Response> {
  const context = openContext(inbound, site.config);
  return runInContext(context, () => inSteps(stepsOfAnswer(context, site)));
}

function* stepsOfAnswer(context: RequestContext, site: Site): Steps<Outgoing | Response> {
  try {
    return complete(yield* ready(route(context, site)), context, site.security);
  } catch (error) {
    // A refusal, or an answer that cannot be sent any more: another server's whose body a route has read.
    return complete(lastAnswer(context, error, site.log), context, site.security);
  }
}

function openContext(inbound: Inbound, config: Config): RequestContext {
  return new RequestContext({
    inbound,
    id: requestId(inbound.header("x-request-id")),
    traceparent: traceParent(inbound.header("traceparent")),
    address: clientAddress(inbound.address, inbound.header("x-forwarded-for"), config.trustProxy),
    config,
  });
}

function route(context: RequestContext, site: Site): Reply | Promise<Reply | Response> {
  const { pathname } = context.inbound;
  if (!isUsablePath(pathname)) return textReply(400, "Bad request: this path cannot be read.\n");
  const path = belowBase(pathname, site.base);
  if (path?.startsWith(RPC_PREFIX)) return answerCall(context, path.slice(RPC_PREFIX.length), site.calls);
  refuseDeclaredTooLarge(context.inbound);
  const live = path === null ? null : site.live.answer(context, path);
  if (live) return live;
  return path === null ? answerNotFound(context, site.pages) : answerPath(context, path, site);
}

async function answerPath(context: RequestContext, path: string, site: Site): Promise<Reply | Response> {
  const file = await site.files?.answer(context.raw, path);
  if (file) return file;
  const found = site.router(context.inbound.method, path);
  switch (found?.kind) {
    case undefined:
      return ownAnswer(path, site) ?? answerNotFound(context, site.pages);
    case "method":
      return textReply(405, `This address answers ${found.allow}.\n`, { allow: found.allow });
    case "route":
      return answerRoute(context, found.route, found.params, site.log);
    case "page":
      if (path !== "/" && path.endsWith("/")) return oneAddress(context.url);
      return withSecurity(await answerPage(context, found.page, found.params, site.pages), found.page, site);
  }
}

function withSecurity(reply: Reply, page: object, { pageSecurity }: Site): Reply {
  const security = pageSecurity.get(page);
  return security ? { ...reply, security } : reply;
}

/** A page has one address: with a slash at its end, its relative links would point elsewhere. */
function oneAddress({ pathname, search }: URL): Reply {
  return { status: 308, headers: { location: pathname.replace(/\/+$/, "") + search, ...PRIVATE }, body: null };
}

/** What the framework answers itself, where the application has nothing at the path. */
function ownAnswer(path: string, { draining, pages, inspection, version }: Site): Reply | null {
  if (path === "/healthz") return jsonReply(200, '{"status":"ok"}');
  if (path === "/readyz") return jsonReply(draining ? 503 : 200, `{"ready":${!draining}}`);
  // In development alone: what there is to be called is nobody's business without a need.
  if (path === OPENAPI_PATH && pages.development) {
    return jsonReply(200, JSON.stringify(openapi(inspection, version)));
  }
  return null;
}

function lastAnswer(context: RequestContext, error: unknown, log: Log): Reply {
  if (error instanceof Refusal) return textReply(error.status, `${error.message}\n`, error.headers);
  log.error({ id: context.id, err: error }, "A request failed");
  return textReply(500, `Something went wrong on the server. Request ${context.id}\n`);
}
