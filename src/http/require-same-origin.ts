import type { AppLog } from "../logging/index.ts";
import { isSameOrigin, siteOriginsFor } from "./origin.ts";
import type { RequestContext } from "./request-context.ts";
import { CONNECTION_CLOSE, RequestError } from "./request-error.ts";

/** The maximum length at which a header of a rejected request is logged, in characters: they are not rate-limited. */
const MAX_LOGGED_LENGTH = 300;

/** What is requested, with the subject of its message. */
const SUBJECTS = { call: "Calls", subscription: "Subscriptions", form: "Forms" } as const;

/**
 * Throws if a browser sent the request from a page of another origin. Calls and subscriptions without `Origin` and
 * `Sec-Fetch-Site` pass: they do not come from a browser, which would attach the user's cookies. A form without both is
 * refused: an old browser may have sent it from any site, since forms need no permission of the server. With a bearer token it
 * passes, too: no page of another site can make a browser send one.
 *
 * Call it before the request is counted. Otherwise a page of another site could use up the rate of its readers.
 *
 * @param kind what is requested, for the messages: `call`
 * @throws RequestError `forbidden`
 * @see docs/protocol.md 8.1
 */
export function requireSameOrigin(context: RequestContext, log: AppLog, kind: keyof typeof SUBJECTS): void {
  const origin = context.inbound.header("origin");
  const fetchSite = context.inbound.header("sec-fetch-site");
  const isAnonymous = origin === null && fetchSite === null;
  if (isAnonymous && (kind !== "form" || context.isBearer)) return;
  const sites = siteOriginsFor(context);
  if (!isAnonymous && isSameOrigin({ origin, fetchSite, sites })) return;
  const [loggedOrigin, loggedSite] = [origin, fetchSite].map((header) => header?.slice(0, MAX_LOGGED_LENGTH) ?? null);
  log.refused(
    "origin",
    { id: context.id, origin: loggedOrigin, fetchSite: loggedSite, sites },
    `Rejected a ${isAnonymous ? "form without Origin" : `cross-origin ${kind}`}. ${adviceFor(kind, { origin, isAnonymous })}`,
  );
  const message = isAnonymous
    ? "A form must be sent with the header Origin, as browsers send it."
    : `${SUBJECTS[kind]} from another site are not allowed.`;
  throw new RequestError("forbidden", message, { headers: CONNECTION_CLOSE });
}

function adviceFor(
  kind: keyof typeof SUBJECTS,
  { origin, isAnonymous }: { readonly origin: string | null; readonly isAnonymous: boolean },
): string {
  if (isAnonymous) return "A script must set the header to the origin of the site";
  if (kind === "form" && origin === "null") {
    return "Browsers send Origin: null for a form of a page with Referrer-Policy: no-referrer. Set the header to same-origin";
  }
  return "If the origin is this site, set WEB_ORIGIN to it, or WEB_TRUST_PROXY to the number of proxies in front";
}
