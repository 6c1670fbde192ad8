/** The trace that a request is a part of, while a tracing SDK is in use. */
export interface RequestTrace {
  /** The `traceparent` of the response: the trace, and the span of this request. */
  readonly traceparent: string;
  /** Runs work as a part of the request's span. Spans that it starts are children of that one. */
  run<T>(work: () => T): T;
}
