import type { Span } from "@opentelemetry/api";
import { serializeError } from "../logging/index.ts";
import type { TelemetryApi } from "./load-api.ts";

/**
 * Records an unexpected error in a span, with type, message and stack, as it is logged: other fields of errors contain
 * secrets. It has no effect after the end of the span.
 */
export function recordError(api: TelemetryApi, span: Span, error: unknown): void {
  if (!span.isRecording()) return;
  const { type, message, stack } = serializeError(error);
  span.recordException({ name: type, message, ...(stack === undefined ? {} : { stack }) });
  span.setAttribute("error.type", type);
  span.setStatus({ code: api.SpanStatusCode.ERROR });
}
