import type { ObservedRequest, RequestTarget } from "../server/index.ts";
import type { RequestEntry, RequestKind } from "./panel-data.ts";
import { redactPath, redactQuery } from "./redact.ts";

const KINDS: Readonly<Record<RequestTarget["kind"], RequestKind>> = {
  ...{ call: "call", stream: "call", form: "form", page: "page", route: "route", live: "live" },
  ...{ file: "other", health: "other", other: "other" },
};

/** Returns what a request is for, as the panel shows it, without secrets. */
export function shownTarget({ context, target }: ObservedRequest): Pick<RequestEntry, "kind" | "target" | "path"> {
  const { pathname, search } = context.inbound.url;
  const kind = KINDS[target.kind];
  // The feeds of live updates are permissions, and long.
  if (kind === "live") return { kind, target: "", path: pathname };
  return { kind, target: target.name ?? "", path: redactPath(pathname, target.route ?? "") + redactQuery(search) };
}
