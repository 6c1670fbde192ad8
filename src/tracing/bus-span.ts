import type { Tracer } from "@opentelemetry/api";
import type { ObserveOperation } from "../live/index.ts";
import type { TelemetryApi } from "./load-api.ts";
import { recordError } from "./record-error.ts";

/**
 * Returns a function that runs operations of the bus in spans. The span of a publish has a parent only during a request, or
 * in a span of the application. Other operations have none elsewhere: the process reads the bus for all its clients.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/
 */
export function busSpans(api: TelemetryApi, tracer: Tracer): ObserveOperation {
  return async (operation, run) => {
    const parent = api.context.active();
    const isPublish = operation.name === "publish";
    if (!isPublish && !api.trace.getSpan(parent)) return run();
    const attributes = {
      "messaging.system.name": "tsweb",
      "messaging.operation.name": operation.name,
      ...(operation.name === "position" ? {} : { "messaging.operation.type": isPublish ? "send" : "receive" }),
      ...(isPublish ? { "messaging.message.body.size": operation.bytes } : {}),
    };
    const kind = isPublish ? api.SpanKind.PRODUCER : api.SpanKind.CLIENT;
    const span = tracer.startSpan(operation.name, { kind, attributes }, parent);
    try {
      return await api.context.with(api.trace.setSpan(parent, span), run);
    } catch (error) {
      recordError(api, span, error);
      throw error;
    } finally {
      span.end();
    }
  };
}
