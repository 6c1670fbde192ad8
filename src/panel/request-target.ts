import { pathBelowBase } from "../http/index.ts";
import { FORM_PREFIX, LIVE_PATH, POLL_PATH, RPC_PREFIX } from "../protocol/index.ts";
import type { ObservedSite } from "../server/index.ts";
import type { RequestKind } from "./panel-data.ts";
import { redactPath, redactQuery } from "./redact.ts";

/** What a request is for. */
export interface RequestTarget {
  readonly kind: RequestKind;
  /** The name of the function, or the path of the page or route as it is declared; empty otherwise. */
  readonly target: string;
  /** The path and the query, without secrets. */
  readonly path: string;
}

/** Returns what a request is for, by its method and its URL. */
export function requestTarget(
  method: string,
  { pathname, search }: URL,
  { base, router }: ObservedSite,
): RequestTarget {
  const path = pathBelowBase(pathname, base);
  const query = redactQuery(search);
  for (const [kind, prefix] of [
    ["call", RPC_PREFIX],
    ["form", FORM_PREFIX],
  ] as const) {
    if (path?.startsWith(prefix)) return { kind, target: path.slice(prefix.length), path: pathname + query };
  }
  // Their feeds are permissions, and long.
  if (path === LIVE_PATH || path === POLL_PATH) return { kind: "live", target: "", path: pathname };
  const match = path === null ? undefined : findMatch(router, method, path);
  if (!match) return { kind: "other", target: "", path: redactPath(pathname, "") + query };
  return { ...match, path: redactPath(pathname, base + match.target) + query };
}

type Match = Pick<RequestTarget, "kind" | "target">;

function findMatch(router: ObservedSite["router"], method: string, path: string): Match | undefined {
  try {
    // A form without script is a POST to the path of its page.
    const match = router(method, path);
    const found = match?.kind === "method" ? router("GET", path) : match;
    if (found?.kind === "page") return { kind: method === "POST" ? "form" : "page", target: found.page.path };
    if (found?.kind === "route") return { kind: "route", target: found.route.path };
    return undefined;
  } catch {
    return undefined; // broken percent-encoding: the pipeline rejects the request
  }
}
