/**
 * Calls and forms of pages that belong to another build than the server, during and after a deployment.
 *
 * @see docs/protocol.md 3.9
 */
import { CONNECTION_CLOSE, RequestError } from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import { BUILD_HEADER, BUILD_VERSION, type StaleSide } from "../protocol/index.ts";
import type { FunctionDefinition } from "./server.ts";

/** The build of an application, for the check of calls. */
export interface BuildSettings {
  /** The id of the server's build; `null` in an application that was not built: it checks nothing. */
  readonly build: string | null;
  readonly log: AppLog;
  /** Returns how many live connections of pages of earlier builds are open, for the log. */
  connectionsBefore(build: string): number;
}

const MESSAGES: Readonly<Record<StaleSide, string>> = {
  page: "This page was opened before the site was updated. Reload the page and try again.",
  server: "The site is being updated. Try again in a few seconds.",
};

const LOG_MESSAGES: Readonly<Record<StaleSide, string>> = {
  page: "A page of an earlier build called a function that has changed or is gone; the page reloads",
  server: "A page of a later build called a function that has changed or is missing here; the page tries again",
};

/**
 * Throws if a call comes from a page of another build, and its function is gone or has another signature in this one.
 * Nothing has run then, and no argument was read. A call without a version, as other clients send it, passes.
 *
 * @param definition the function; `undefined` if there is none of the name
 * @param version what the page has sent: the id of its build, and the hash of the signature
 * @throws RequestError `conflict`, whose `details.stale` is the side of the older build. Its header has the server's build
 */
export function requireSameSignature(
  definition: FunctionDefinition | undefined,
  version: string | null | undefined,
  { build, log, connectionsBefore }: BuildSettings,
): void {
  if (build === null || !version || (definition && version.endsWith(definition.signature.hash ?? ""))) return;
  const pageBuild = BUILD_VERSION.exec(version)?.[1];
  if (pageBuild === undefined) return; // a header of another program
  const stale = staleSide(pageBuild, build);
  // The name of a function that is gone is not logged: a client may have chosen it.
  const fields = { name: definition?.signature.name ?? null, live_connections: connectionsBefore(build) };
  log.refused(`stale_${stale}`, fields, LOG_MESSAGES[stale]);
  throw new RequestError("conflict", MESSAGES[stale], {
    headers: { [BUILD_HEADER]: build, ...CONNECTION_CLOSE },
    details: { stale },
  });
}

/** Returns whether an error is one of {@link requireSameSignature}, and not one of the application with such details. */
export function isStaleError(error: unknown): error is RequestError {
  return error instanceof RequestError && error.headers[BUILD_HEADER] !== undefined;
}

/** Returns which side is of the older build. With the same id, which no page of the build sends, it is the page. */
function staleSide(pageBuild: string, serverBuild: string): StaleSide {
  return pageBuild > serverBuild ? "server" : "page";
}
