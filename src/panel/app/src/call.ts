import {
  ARGUMENTS_FIELD,
  CSRF_HEADER,
  NDJSON_TYPE,
  REDIRECT_HEADER,
  REQUEST_ID_HEADER,
} from "../../../protocol/index.ts";
import type { FunctionInfo } from "../../panel-data.ts";
import { getCsrfToken } from "./panel.server.ts";

/** Arguments, by the name of the parameter. Files are separate, because JSON has none. */
export interface CallArguments {
  readonly values: Readonly<Record<string, unknown>>;
  readonly files: readonly (readonly [name: string, file: File])[];
}

/** The end of a call. */
export interface CallOutcome {
  readonly status: number;
  readonly requestId: string;
  readonly durationMs: number;
  /** Where the browser would go after the call; `null` without a redirect. */
  readonly redirect: string | null;
  /** The result, or the error body. A stream has `null`: its values were reported one by one. */
  readonly body: unknown;
}

/**
 * Calls a function of the application with the cookies of this browser, so as the user who is signed in here.
 *
 * @param onValue receives each value of a stream, and the error with which it ended
 */
export async function sendCall(
  { path, formPath }: FunctionInfo,
  args: CallArguments,
  { signal, onValue }: { readonly signal: AbortSignal; readonly onValue: (line: unknown) => void },
): Promise<CallOutcome> {
  const token = await getCsrfToken();
  const startMs = performance.now();
  const response = await fetch(args.files.length > 0 ? formPath : path, { ...requestOf(args, token), signal });
  const isStream = response.headers.get("content-type")?.startsWith(NDJSON_TYPE) ?? false;
  const body = isStream ? await readValues(response, onValue) : await readBody(response);
  return {
    status: response.status,
    requestId: response.headers.get(REQUEST_ID_HEADER) ?? "",
    durationMs: Math.round(performance.now() - startMs),
    redirect: response.headers.get(REDIRECT_HEADER),
    body,
  };
}

function requestOf({ values, files }: CallArguments, token: string | null): RequestInit {
  const headers: Record<string, string> = token === null ? {} : { [CSRF_HEADER]: token };
  if (files.length === 0) {
    headers["content-type"] = "application/json";
    return { method: "POST", headers, body: JSON.stringify({ args: values }) };
  }
  const form = new FormData();
  form.append(ARGUMENTS_FIELD, JSON.stringify(values));
  for (const [name, file] of files) form.append(name, file);
  return { method: "POST", headers, body: form };
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return text; // not a response of tsweb, such as that of a middleware
  }
}

/** Reads a stream: one line of JSON for each value. @see docs/protocol.md 6.2 */
async function readValues(response: Response, onValue: (line: unknown) => void): Promise<null> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of response.body ?? []) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { chunk, error, done }: { chunk?: unknown; error?: unknown; done?: true } = JSON.parse(line);
      if (!done) onValue(error === undefined ? chunk : { error });
    }
  }
  return null;
}
