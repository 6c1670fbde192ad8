import type { TracerProvider } from "@opentelemetry/api";
import { type RequestContext, setTraceExit } from "../http/index.ts";
import type { ObserveOperation } from "../live/index.ts";
import type { Logger } from "../logging/index.ts";
import type { RequestListener } from "../server/index.ts";
import { busSpans } from "./bus-span.ts";
import { hasRegisteredSdk, loadTelemetryApi, type TelemetryApi } from "./load-api.ts";
import { RequestSpan } from "./request-span.ts";

/** What is connected to an application while a tracing SDK is in use. */
export interface TracingHooks {
  /** Receives the listener of requests. */
  addListener(listener: RequestListener): void;
  /** Receives the observer of the bus. */
  observeBus(observe: ObserveOperation): void;
}

/** The options of {@link Tracing}. */
export interface TracingOptions extends TracingHooks {
  readonly log: Logger;
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
