import { RPCError } from "../errors.ts";
import { encodedBodyError } from "./request-body.ts";
import { RequestError } from "./request-error.ts";

/** The methods that parse a body, with the name of the error that they reject with if they cannot. */
const PARSERS = { json: "SyntaxError", formData: "TypeError" } as const;

/** The content types of a form. */
const FORM_TYPE = /^\s*(?:multipart\/form-data|application\/x-www-form-urlencoded)\s*(?:;|$)/i;

/**
 * Makes a request note the errors with which `json()` and `formData()` reject because its client has sent a malformed body.
 *
 * @returns a function that returns the error for the client, with the status 400 or 415, if exactly such an error is passed, and
 *   `null` for any other. What the application parses itself, and a body that it reads twice, fail as any other mistake.
 * @see docs/protocol.md 11.4
 */
export function findUnreadableBody(request: Request): (error: unknown) => RequestError | null {
  const found = new WeakMap<Error, RequestError>();
  watch(request, found);
  return (error) => (error instanceof Error ? (found.get(error) ?? null) : null);
}

function watch(request: Request, found: WeakMap<Error, RequestError>): void {
  for (const method of ["json", "formData"] as const) {
    const parse = request[method];
    const value = async (): Promise<unknown> => {
      const isUsed = request.bodyUsed || request.body?.locked === true;
      try {
        return await Reflect.apply(parse, request, []);
      } catch (error) {
        if (!isUsed && error instanceof Error && !(error instanceof RPCError) && error.name === PARSERS[method]) {
          found.set(error, unreadableBodyError(method, request));
        }
        throw error;
      }
    };
    Object.defineProperty(request, method, { value, configurable: true, writable: true });
  }
  const { clone } = request;
  const value = (): Request => {
    const copy = Reflect.apply(clone, request, []);
    watch(copy, found);
    return copy;
  };
  Object.defineProperty(request, "clone", { value, configurable: true, writable: true });
}

function unreadableBodyError(method: keyof typeof PARSERS, { headers }: Request): RequestError {
  const encoded = encodedBodyError(headers.get("content-encoding"));
  if (encoded) return encoded;
  if (method === "json") return new RequestError("validation_error", "The request body is not JSON.", { status: 400 });
  if (FORM_TYPE.test(headers.get("content-type") ?? "")) {
    return new RequestError("validation_error", "The request body is not a form.", { status: 400 });
  }
  const message = "The content type of a form must be multipart/form-data or application/x-www-form-urlencoded.";
  return new RequestError("validation_error", message, { status: 415 });
}
