import { CONNECTION_CLOSE, type HandlerResponse, type InboundRequest, textResponse } from "../http/index.ts";

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
