import { formParameter, type InboundRequest, pathBelowBase } from "../http/index.ts";
import { FORM_PREFIX, LIVE_PATH, POLL_PATH, RPC_PREFIX, readFormParameter } from "../protocol/index.ts";
import { type CallSettings, findFunction } from "../rpc/index.ts";
import type { Router } from "./router.ts";
import type { StaticFiles } from "./static-files.ts";

/** What a request is for. `health`: a health check or the metrics. `other`: nothing of the application, for example a page that does not exist. */
export type RequestKind = "page" | "route" | "call" | "stream" | "form" | "live" | "file" | "health" | "other";

/** The kind and the name of what a request is for. */
export interface RequestTarget {
  readonly kind: RequestKind;
  /**
   * The name of the function, or the path of the page or route as it is declared; `null` if there is none. A client cannot
   * choose it, so the number of names is limited.
   */
  readonly name: string | null;
  /**
   * The path of the URL as it is declared, with the base: `/shop/orders/:id`, `/__web/rpc/add`. `null` for files, and if
   * nothing is served there. As the name, it is never one that a client has chosen.
   */
  readonly route: string | null;
}

/** The data of an application with which the target of a request is found. */
export interface TargetSite {
  /** The path below which the application is served; empty for the root. */
  readonly base: string;
  readonly router: Router;
  readonly calls: Pick<CallSettings, "functions">;
  readonly files: StaticFiles | null;
  readonly metrics?: { readonly path: string } | undefined;
}

const OTHER: RequestTarget = { kind: "other", name: null, route: null };

/** Returns what a request is for, by its method and its URL. Never throws. */
export function requestTarget(inbound: InboundRequest, site: TargetSite): RequestTarget {
  const path = pathBelowBase(inbound.pathname, site.base);
  if (path === null) return OTHER;
  if (path === site.metrics?.path) return { kind: "health", name: path, route: inbound.pathname };
  try {
    return functionTarget(path, site) ?? liveTarget(path, site) ?? pathTarget(inbound, path, site);
  } catch {
    return OTHER; // broken percent-encoding: the pipeline rejects the request
  }
}

/** Returns whether a path is one of the health checks, which the application may serve itself. */
export function isHealthPath(path: string): boolean {
  return path === "/healthz" || path === "/readyz";
}

function functionTarget(path: string, { calls, base }: TargetSite): RequestTarget | null {
  const isForm = path.startsWith(FORM_PREFIX);
  if (!isForm && !path.startsWith(RPC_PREFIX)) return null;
  const prefix = isForm ? FORM_PREFIX : RPC_PREFIX;
  const found = findFunction(calls.functions, path.slice(prefix.length));
  const kind = isForm ? "form" : found?.signature.stream ? "stream" : "call";
  if (!found) return { kind, name: null, route: null };
  return { kind, name: found.signature.name, route: base + prefix + found.signature.name };
}

function liveTarget(path: string, { base }: TargetSite): RequestTarget | null {
  return path === LIVE_PATH || path === POLL_PATH ? { kind: "live", name: path, route: base + path } : null;
}

function pathTarget(inbound: InboundRequest, path: string, site: TargetSite): RequestTarget {
  const { files, calls } = site;
  if (files?.has(inbound, path)) return { kind: "file", name: null, route: null };
  const { method } = inbound;
  const target = declaredTarget(method, path, site);
  // A form without script is sent to the path of its page.
  const form = method === "POST" ? formParameter(inbound.url) : null;
  if (form === null) return target;
  const name = calls.functions.get(readFormParameter(form).name)?.signature.name ?? null;
  return { kind: "form", name, route: target.route };
}

/** Returns the page or the route of a path, or the health check. */
function declaredTarget(method: string, path: string, { router, base }: TargetSite): RequestTarget {
  const match = router(method, path);
  const found = match?.kind === "method" ? router("GET", path) : match;
  if (found?.kind === "page") return { kind: "page", name: found.page.path, route: base + found.page.path };
  if (found?.kind === "route") return { kind: "route", name: found.route.path, route: base + found.route.path };
  return isHealthPath(path) ? { kind: "health", name: path, route: base + path } : OTHER;
}
