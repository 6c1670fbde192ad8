import { type Arguments, checkArguments, FORM_PREFIX, toFormData } from "../protocol/index.ts";
import { post } from "./call.ts";
import { checkMisuse } from "./dev/misuse.ts";
import { fetchWithProgress, takeProgressListener } from "./form-upload.ts";
import { getPageData } from "./page-data.ts";

/**
 * Sends a call whose arguments may contain files: with files as a form, without any as other calls.
 *
 * @throws RPCError `internal` if the server is unreachable
 * @see docs/protocol.md 15.7
 */
export async function upload(name: string, args: Arguments, signal?: AbortSignal, hash?: string): Promise<Response> {
  const body = toFormData(args);
  if (!body) return post(name, args, signal, hash);
  if (process.env.NODE_ENV !== "production") checkMisuse(() => checkArguments(name, args, true));
  const listener = takeProgressListener(); // before the first `await`
  return post(name, {}, signal, hash, (_, init) => {
    const { "content-type": _type, ...headers } = init.headers as Record<string, string>; // the browser sets it, with the boundary
    const url = getPageData().base + FORM_PREFIX + name;
    // The XMLHttpRequest needs the signal of the stub, which each of its calls has.
    if (listener && signal) return fetchWithProgress(listener)(url, { method: "POST", headers, body, signal });
    return fetch(url, { ...init, headers, body });
  });
}
