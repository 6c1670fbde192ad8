import type { Attributes, Context, Span, TextMapGetter, Tracer, TracerProvider } from "@opentelemetry/api";
import { type InboundRequest, type RequestContext, type RequestTrace, setTraceExit } from "../http/index.ts";
import type { ObserveOperation } from "../live/index.ts";
import { type Logger, serializeError } from "../logging/index.ts";
import type { HandledRequest, ObservedRequest, RequestListener } from "./observe-request.ts";
import { hasRegisteredSdk, loadTelemetryApi, type TelemetryApi } from "./telemetry-api.ts";

/** The options of {@link Tracing}: its log, and what is connected to an application while a tracing SDK is in use. */
export interface TracingOptions {
  readonly log: Logger;
  /** Receives the listener of requests. */
  addListener(listener: RequestListener): void;
  /** Receives the observer of the bus. */
  observeBus(observe: ObserveOperation): void;
}

/**
 * The traces of an application, by OpenTelemetry. Whether there are any is decided when the application is created, and again
 * at its start: if `@opentelemetry/api` is installed and an SDK has registered its tracer. Otherwise nothing of it runs.
 */
export class Tracing {
  readonly #options: TracingOptions;
  #api: TelemetryApi | undefined;

  constructor(options: TracingOptions) {
    this.#options = options;
    void this.#connect();
  }

  /** Resolves when it is decided whether requests are traced. Never rejects. */
  async start(): Promise<void> {
    const error = await this.#connect();
    if (error) this.#options.log.warn({ err: error }, "@opentelemetry/api could not be loaded; there are no traces");
  }

  /** Records an unexpected error of a request in its span. */
  failed(context: RequestContext, error: unknown): void {
    if (context.trace instanceof RequestSpan) context.trace.fail(error);
  }

  /** Makes the SDK export the spans that have ended, before the process exits. Rejects if it cannot. */
  async flush(): Promise<void> {
    const provider = this.#api && providerOf(this.#api);
    if (hasFlush(provider)) await provider.forceFlush();
  }

  /** Connects the application to an SDK, if there is one. Returns why the API cannot be loaded. */
  async #connect(): Promise<unknown> {
    if (this.#api || !hasRegisteredSdk()) return;
    const { api, error } = await loadTelemetryApi();
    if (!api || this.#api || !providerOf(api)) return error;
    this.#api = api;
    const tracer = api.trace.getTracer("tsweb");
    setTraceExit((work) => api.context.with(api.ROOT_CONTEXT, work));
    this.#options.observeBus(busSpans(api, tracer));
    this.#options.addListener({
      started(request) {
        if (request.target.kind !== "file") request.context.trace = new RequestSpan(api, tracer, request);
      },
      ended(request) {
        if (request.context.trace instanceof RequestSpan) request.context.trace.end(request);
      },
    });
  }
}

/** Returns what an SDK has registered; `undefined` without an SDK. */
function providerOf(api: TelemetryApi): TracerProvider | undefined {
  const provider = api.trace.getTracerProvider();
  if (!(provider instanceof api.ProxyTracerProvider)) return provider; // that of another copy of the package
  return provider.getDelegateTracer("tsweb") ? provider.getDelegate() : undefined;
}

function hasFlush(provider: object | undefined): provider is { forceFlush(): Promise<void> } {
  return provider !== undefined && "forceFlush" in provider && typeof provider.forceFlush === "function";
}

/**
 * Returns a function that runs operations of the bus in spans. The span of a publish has a parent only during a request, or
 * in a span of the application. Other operations have none elsewhere: the process reads the bus for all its clients.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/
 */
function busSpans(api: TelemetryApi, tracer: Tracer): ObserveOperation {
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

/** The methods that HTTP and WebDAV define. Others are `_OTHER`, so that clients cannot add values. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"]);

const HEADERS: TextMapGetter<InboundRequest> = {
  get: (inbound, name) => inbound.header(name.toLowerCase()) ?? undefined,
  keys: (inbound) => [...inbound.headers.keys()],
};

/** The key under which OpenTelemetry's instrumentation of `node:http` has the data of its span. */
const RPC_METADATA = "OpenTelemetry SDK Context Key RPC_METADATA";

/** The span of a request, from its arrival to the end of its response. */
class RequestSpan implements RequestTrace {
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

/**
 * Records an unexpected error in a span, with type, message and stack, as it is logged: other fields of errors contain
 * secrets. It has no effect after the end of the span.
 */
function recordError(api: TelemetryApi, span: Span, error: unknown): void {
  if (!span.isRecording()) return;
  const { type, message, stack } = serializeError(error);
  span.recordException({ name: type, message, ...(stack === undefined ? {} : { stack }) });
  span.setAttribute("error.type", type);
  span.setStatus({ code: api.SpanStatusCode.ERROR });
}
