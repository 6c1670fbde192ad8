/**
 * OpenTelemetry's SDK with an exporter in memory, for a test file: an SDK is registered for the whole process.
 */
import { context, propagation, trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";

/** Registers the SDK as its documentation shows. Call {@link unregisterSdk} afterwards. */
export function registerSdk(sampler?: Sampler) {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  const provider = new NodeTracerProvider({ spanProcessors, ...(sampler ? { sampler } : {}) });
  provider.register();
  return {
    /** The spans that have ended. */
    get spans(): readonly ReadableSpan[] {
      return exporter.getFinishedSpans();
    },
    clear: () => exporter.reset(),
    /** Returns the only span of this name. */
    span(name: string): ReadableSpan {
      const [span, ...others] = exporter.getFinishedSpans().filter((finished) => finished.name === name);
      if (span && others.length === 0) return span;
      const names = exporter.getFinishedSpans().map((finished) => finished.name);
      throw new Error(`There is no span ${name}, or more than one: ${names.join(", ")}`);
    },
  };
}

/** Removes what {@link registerSdk} has registered. */
export function unregisterSdk(): void {
  for (const api of [trace, context, propagation]) api.disable();
}
