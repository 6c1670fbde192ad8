import type { Attributes, Context, Span, TextMapGetter, Tracer } from "@opentelemetry/api";
import type { InboundRequest, RequestTrace } from "../http/index.ts";
import type { HandledRequest, ObservedRequest } from "../server/index.ts";
import type { TelemetryApi } from "./load-api.ts";
import { recordError } from "./record-error.ts";

/** The methods that HTTP and WebDAV define. Others are `_OTHER`, so that clients cannot add values. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"]);

const HEADERS: TextMapGetter<InboundRequest> = {
  get: (inbound, name) => inbound.header(name.toLowerCase()) ?? undefined,
  keys: (inbound) => [...inbound.headers.keys()],
};

/** The key under which OpenTelemetry's instrumentation of `node:http` has the data of its span. */
const RPC_METADATA = "OpenTelemetry SDK Context Key RPC_METADATA";

/** The span of a request, from its arrival to the end of its response. */
export class RequestSpan implements RequestTrace {
  readonly #api: TelemetryApi;
  readonly #span: Span;
  readonly #context: Context;
  #hasFailed = false;

  /**
   * Starts the span. It continues the trace of the headers. If the host has started a span for the request already, as the
   * instrumentation of `node:http` does, it is a child of that one.
   */
  constructor(api: TelemetryApi, tracer: Tracer, request: ObservedRequest) {
    const { inbound } = request.context;
    const active = api.context.active();
    const isChild = api.trace.getSpan(active) !== undefined;
    const parent = isChild ? active : api.propagation.extract(active, inbound, HEADERS);
    const kind = isChild ? api.SpanKind.INTERNAL : api.SpanKind.SERVER;
    this.#api = api;
    this.#span = tracer.startSpan(spanName(request), { kind, attributes: attributesOf(request) }, parent);
    this.#context = api.trace.setSpan(parent, this.#span);
    if (isChild && request.target.route !== null) {
      const metadata = active.getValue(api.createContextKey(RPC_METADATA));
      if (typeof metadata === "object" && metadata !== null) Object.assign(metadata, { route: request.target.route });
    }
  }

  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    return `00-${traceId}-${spanId}-${traceFlags & this.#api.TraceFlags.SAMPLED ? "01" : "00"}`;
  }

  run<T>(work: () => T): T {
    return this.#api.context.with(this.#context, work);
  }

  /** Records an unexpected error. */
  fail(error: unknown): void {
    this.#hasFailed = true;
    recordError(this.#api, this.#span, error);
  }

  end({ status }: HandledRequest): void {
    this.#span.setAttribute("http.response.status_code", status);
    if (status >= 500 && !this.#hasFailed) {
      this.#span.setAttribute("error.type", String(status));
      this.#span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}

/** @see https://opentelemetry.io/docs/specs/semconv/http/http-spans/#name */
function spanName({ context, target }: ObservedRequest): string {
  const method = METHODS.has(context.inbound.method) ? context.inbound.method : "HTTP";
  return target.route === null ? method : `${method} ${target.route}`;
}

/**
 * Returns the attributes of a request by OpenTelemetry's conventions for HTTP and RPC. They contain nothing that a client has
 * chosen: the path of the URL, which the conventions require, may contain secrets.
 */
function attributesOf({ context, target }: ObservedRequest): Attributes {
  const { inbound, config } = context;
  const isCall = target.kind === "call" || target.kind === "stream" || target.kind === "form";
  return {
    "http.request.method": METHODS.has(inbound.method) ? inbound.method : "_OTHER",
    // Behind a proxy, the connection of the client has another scheme than this one.
    "url.scheme": config.cookieSecure ? "https" : inbound.origin.split(":")[0],
    ...(target.route === null ? {} : { "http.route": target.route }),
    ...(isCall && target.name !== null ? { "rpc.system.name": "tsweb", "rpc.method": target.name } : {}),
    "tsweb.kind": target.kind,
  };
}
