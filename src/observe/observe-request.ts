import {
  isPrefetch,
  isPromise,
  isPushedBody,
  isReadableStream,
  isResponse,
  type OutboundResponse,
  PushedBody,
  type RequestContext,
  traceIdOf,
} from "../http/index.ts";
import type { Logger } from "../logging/index.ts";

/** What a request is for. `health`: a health check or the metrics. `other`: nothing of the application, for example a page that does not exist. */
export type RequestKind = "page" | "route" | "call" | "stream" | "form" | "live" | "file" | "health" | "other";

/** The kind and the name of what a request is for. */
export interface RequestTarget {
  readonly kind: RequestKind;
  /**
   * The name of the function, or the path of the page or route as it is declared; `null` if there is none. A client cannot
   * choose it, so the number of names is limited.
   */
  readonly name: string | null;
  /**
   * The path of the URL as it is declared, with the base: `/shop/orders/:id`, `/__web/rpc/add`. `null` for files, and if
   * nothing is served there. As the name, it is never one that a client has chosen.
   */
  readonly route: string | null;
}

/** A request that is observed. */
export interface ObservedRequest {
  readonly context: RequestContext;
  readonly target: RequestTarget;
  /** Whether a browser requests it before a link is clicked. */
  readonly isPrefetch: boolean;
}

/** What an observer reads of a response. */
export type ObservedResponse = Pick<OutboundResponse | Response, "status" | "body">;

/** A request whose response has ended. */
export interface HandledRequest extends ObservedRequest {
  readonly status: number;
  /** The time until the response was handed to the host, or until the end of a stream, in milliseconds. */
  readonly durationMs: number;
  /** The bytes of the body that were sent, or handed to the host. */
  readonly bytes: number;
  /** The number of parts of a page that have failed after its status was sent. */
  readonly failedParts: number;
}

/** Observes requests. Its methods must not throw. */
export interface RequestListener {
  /** Called when a request has arrived, before anything of it runs. */
  started?(request: ObservedRequest): void;
  /** Called with its response, before it is sent. */
  responded?(request: ObservedRequest, response: ObservedResponse): void;
  /** Called when its response has ended. */
  ended(request: HandledRequest): void;
}

/**
 * The listeners of the requests of an application: the access log, metrics, traces, and the panel of the development server.
 * They change while it runs: the panel is opened and closed.
 */
export class RequestListeners {
  #permanent: readonly RequestListener[];
  #development: RequestListener | undefined;
  /** `undefined` without any, so that requests then cost one check. */
  current: readonly RequestListener[] | undefined;

  constructor(permanent: readonly RequestListener[] = []) {
    this.#permanent = permanent;
    this.#update();
  }

  /** Adds a listener of the requests that arrive from now on. */
  add(listener: RequestListener): void {
    this.#permanent = [...this.#permanent, listener];
    this.#update();
  }

  /** Sets the listener of the development server; `undefined` removes it. */
  setDevelopment(listener: RequestListener | undefined): void {
    this.#development = listener;
    this.#update();
  }

  #update(): void {
    const all = this.#development ? [...this.#permanent, this.#development] : this.#permanent;
    this.current = all.length > 0 ? all : undefined;
  }
}

type Handled = OutboundResponse | Response;

/**
 * Handles a request, and calls the listeners: the one place that the access log, metrics, traces and the panel learn of
 * requests from. Health checks and requests for the metrics are not reported.
 *
 * @param handle handles the request; never throws and never rejects
 */
export function observeRequest(
  context: RequestContext,
  { target, listeners }: { readonly target: RequestTarget; readonly listeners: readonly RequestListener[] },
  handle: () => Handled | Promise<Handled>,
): Handled | Promise<Handled> {
  const startMs = performance.now();
  if (target.kind === "health") return handle();
  const request: ObservedRequest = { context, target, isPrefetch: isPrefetch(context) };
  for (const listener of listeners) listener.started?.(request);
  const observe = (response: Handled) => {
    for (const listener of listeners) listener.responded?.(request, response);
    return observeEnd(response, (bytes) => {
      const durationMs = performance.now() - startMs;
      const { failedParts } = context;
      for (const listener of listeners)
        listener.ended({ ...request, status: response.status, durationMs, bytes, failedParts });
    });
  };
  const response = handle();
  return isPromise(response) ? response.then(observe) : observe(response);
}

/** Called once when a response has ended, with the bytes of its body that were sent, or handed to the host. */
type OnResponseEnd = (bytes: number) => void;

/**
 * Returns a response that calls a function when it has ended, regardless of which side ended it. A response whose body is
 * complete has ended when the host receives it.
 */
export function observeEnd(response: OutboundResponse | Response, onEnd: OnResponseEnd): OutboundResponse | Response {
  const { body } = response;
  if (isResponse(response)) {
    if (response.body === null) return endNow(response, 0, onEnd);
    const { status, statusText, headers } = response;
    return new Response(observeStream(response.body, onEnd), { status, statusText, headers });
  }
  if (body === null) return endNow(response, 0, onEnd);
  if (typeof body === "string" || body instanceof Uint8Array) return endNow(response, Buffer.byteLength(body), onEnd);
  if (isPushedBody(body)) return { ...response, body: observePushed(body, onEnd) };
  return isReadableStream(body) ? { ...response, body: observeStream(body, onEnd) } : response;
}

function endNow<T>(response: T, bytes: number, onEnd: OnResponseEnd): T {
  onEnd(bytes);
  return response;
}

function observePushed(body: PushedBody, onEnd: OnResponseEnd): PushedBody {
  return new PushedBody((sink) => {
    let bytes = 0;
    const producer = body.open({
      write(chunk) {
        bytes += Buffer.byteLength(chunk);
        return sink.write(chunk);
      },
      writeShared(chunk) {
        bytes += chunk.byteLength;
        return sink.writeShared ? sink.writeShared(chunk) : sink.write(chunk);
      },
      end: () => sink.end(),
      destroy: () => sink.destroy(),
    });
    return {
      onDrain: () => producer.onDrain(),
      onClose() {
        producer.onClose();
        onEnd(bytes);
      },
    };
  });
}

/** Reads the stream only when it is read itself, so that a generator behind it does not run ahead of its client. */
function observeStream(body: ReadableStream<Uint8Array>, onEnd: OnResponseEnd): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  let hasEnded = false;
  const end = () => {
    if (!hasEnded) onEnd(bytes);
    hasEnded = true;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) {
            bytes += value.byteLength;
            controller.enqueue(value);
            return;
          }
          controller.close();
          end();
        } catch (error) {
          end();
          throw error; // the stream fails with it
        }
      },
      async cancel(reason) {
        end();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * Returns a listener that writes one line for each request. It contains nothing that the client has chosen besides its
 * method and its request id: no path, query, header or body.
 */
export function createAccessLog(logger: Logger): RequestListener {
  const ended: RequestListener["ended"] = ({ context, target, isPrefetch, status, durationMs, bytes, failedParts }) => {
    logger.info(
      {
        id: context.id,
        trace_id: traceIdOf(context.traceparent),
        method: context.inbound.method,
        kind: target.kind,
        name: target.name,
        status,
        ms: Math.round(durationMs * 10) / 10,
        bytes,
        ...(failedParts > 0 ? { failed_parts: failedParts } : {}),
        address: context.address,
        ...(isPrefetch ? { prefetch: true } : {}),
      },
      "Request",
    );
  };
  return { ended };
}
