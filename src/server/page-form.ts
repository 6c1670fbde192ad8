import { formParameter, type InboundRequest } from "../http/index.ts";
import type { PageForm } from "../pages/index.ts";
import type { Router } from "./router.ts";

/** Paths that the framework serves itself, and that show no page. */
const OWN_PATHS = /^\/(?:__web\/|healthz$|readyz$)/;

/**
 * Returns the form that a request sends to a page without script; `null` for any other request.
 *
 * A form is sent to the path at which it was shown: of a page, or of nothing, where the error page contains it. A path
 * that has only routes shows no form, so that its requests are handled as without the parameter. At a path with a page
 * and a route for POST, the parameter decides.
 *
 * @param path the path below the application's base
 * @see docs/protocol.md 15.1
 */
export function findPageForm(inbound: InboundRequest, path: string, router: Router): PageForm | null {
  if (inbound.method !== "POST" || OWN_PATHS.test(path)) return null;
  const parameter = formParameter(inbound.url);
  // No form has an address with a slash at the end, because pages have none.
  if (parameter === null || (path !== "/" && path.endsWith("/"))) return null;
  const match = router("GET", path);
  if (match?.kind === "page") return { parameter, page: match.page, params: match.params };
  return router("POST", path) ? null : { parameter, page: null, params: {} };
}
