import { BUILD_HEADER, type Call, CSRF_HEADER, PUBLISHED_HEADER, REDIRECT_HEADER } from "../protocol/index.ts";

/** A request with a form. `fetch` takes it, too. */
interface FormRequest {
  readonly method: "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FormData;
  readonly signal: AbortSignal;
}

/** Receives the part of a body that has been sent, from 0 to 1. */
export type ProgressListener = (sent: number) => void;

/** The listener of {@link on_progress} while that makes its call. */
let currentListener: ProgressListener | undefined;

/** Returns the listener for a call with files that is being made, if it has one. */
export function takeProgressListener(): ProgressListener | undefined {
  return currentListener;
}

/**
 * Makes a call with files, and calls a listener with the part of it that has been sent, from 0 to 1. A call without files
 * reports nothing, and neither does one on the server.
 *
 * @param makeCall makes the call, before its first `await`
 * @returns the call
 * @example await on_progress((sent) => { s.sent = sent; }, () => store(file));
 */
export function on_progress<C extends Call<unknown>>(listener: ProgressListener, makeCall: () => C): C {
  currentListener = listener;
  try {
    return makeCall();
  } finally {
    currentListener = undefined;
  }
}

/**
 * Returns a function that sends a form like `fetch` and reports the progress, which `fetch` cannot.
 *
 * @param onProgress called with the part of the body that has been sent, from 0 to 1
 */
export function fetchWithProgress(onProgress: (sent: number) => void) {
  return (url: string, { method, headers, body, signal }: FormRequest): Promise<Response> =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open(method, url);
      for (const name in headers) request.setRequestHeader(name, headers[name] as string); // an own property
      request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total);
      request.onload = () => {
        const received = [BUILD_HEADER, CSRF_HEADER, REDIRECT_HEADER, PUBLISHED_HEADER]
          .map((name) => [name, request.getResponseHeader(name) ?? ""])
          .filter(([, value]) => value);
        const { status } = request;
        resolve(new Response(request.response, { status, headers: Object.fromEntries(received) }));
      };
      request.onerror = reject;
      request.onabort = reject;
      signal.onabort = () => request.abort();
      request.send(body);
    });
}
