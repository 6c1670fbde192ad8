import { BUILD_HEADER, CSRF_HEADER, REDIRECT_HEADER } from "../protocol/index.ts";

/** A request with a form. `fetch` takes it, too. */
interface FormRequest {
  readonly method: "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FormData;
  readonly signal: AbortSignal;
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
        const received = [BUILD_HEADER, CSRF_HEADER, REDIRECT_HEADER].map((name) => [
          name,
          request.getResponseHeader(name) ?? "",
        ]);
        const { status } = request;
        resolve(new Response(request.response, { status, headers: Object.fromEntries(received) }));
      };
      request.onerror = reject;
      request.onabort = reject;
      signal.onabort = () => request.abort();
      request.send(body);
    });
}
