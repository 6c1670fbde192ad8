import {
  CONNECTION_CLOSE,
  type HandlerResponse,
  type InboundRequest,
  jsonResponse,
  textResponse,
} from "../http/index.ts";
import { openapiJson } from "../openapi/index.ts";
import { OPENAPI_PATH } from "../protocol/index.ts";
import { respondToHealthCheck, respondToReadinessCheck } from "./health.ts";
import type { Site } from "./site.ts";

/** Handles the framework's own paths, unless the application serves them. Returns `null` for any other path. */
export function handleBuiltInPath(
  path: string,
  { draining, live, health, sessions, pages, inspection, project }: Site,
): HandlerResponse | null {
  if (path === "/healthz") return respondToHealthCheck(health);
  if (path === "/readyz")
    return respondToReadinessCheck(health, {
      draining,
      bus: live.bus.state,
      hasRevocations: sessions.revocations.isLoaded,
    });
  // Only in development: a list of all functions would help an attacker.
  if (path === OPENAPI_PATH && pages.development) {
    return jsonResponse(200, openapiJson(inspection, project));
  }
  return null;
}

/** A response with metrics, or why there are none. */
export interface MetricsResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The metrics of an application. */
export interface MetricsEndpoint {
  /** The path, below the base of the application. */
  readonly path: string;
  /** @param authorization the header of the request; `null` without one */
  respond(authorization: string | null): Promise<MetricsResponse>;
}

/**
 * Handles a request for the metrics.
 *
 * @see docs/protocol.md 12.2
 */
export async function handleMetrics(inbound: InboundRequest, metrics: MetricsEndpoint): Promise<HandlerResponse> {
  if (inbound.method !== "GET" && inbound.method !== "HEAD") {
    return textResponse(405, "This URL allows GET, HEAD.\n", { allow: "GET, HEAD", ...CONNECTION_CLOSE });
  }
  const { status, headers, text } = await metrics.respond(inbound.header("authorization"));
  return textResponse(status, text, inbound.hasUndeclaredBody ? { ...headers, ...CONNECTION_CLOSE } : headers);
}
