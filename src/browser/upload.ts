import { type Arguments, checkArguments, FORM_PREFIX, toFormData } from "../protocol/index.ts";
import { post } from "./call.ts";
import { checkMisuse } from "./dev-misuse.ts";
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
  return post(name, {}, signal, hash, (_, init) => {
    const headers = new Headers(init.headers);
    headers.delete("content-type"); // the browser sets it, with the boundary
    return fetch(getPageData().base + FORM_PREFIX + name, { ...init, headers, body });
  });
}
