// The requests of calls, for the checks and for the load generator.
import { browserHeaders } from "../lib/load.mjs";

/** Returns a request that posts a body, with the headers of Chromium. */
export function post(address, path, body, { contentType = "application/json", headers = {} } = {}) {
  return {
    url: address + path,
    method: "POST",
    headers: { "content-type": contentType, ...browserHeaders(address, headers) },
    body: JSON.stringify(body),
  };
}

/**
 * Returns a call.
 *
 * @param options `isSignedIn`: calls the function that requires a session; `headers`: further headers
 */
export function callOf({ address, form }, args, { isSignedIn = false, headers = {} } = {}) {
  const { contentType } = form;
  const path = isSignedIn ? form.echoSignedIn : form.echo;
  return post(address, path, form.bodyOf(args, isSignedIn), { contentType, headers });
}

/** Signs in, and returns the headers of further calls: the cookie, and the CSRF token if there is one. */
export async function signIn({ address, form }) {
  const request = post(address, form.signIn, form.signInBody);
  const response = await fetch(request.url, request);
  const cookie = response.headers.getSetCookie()[0]?.split(";")[0];
  if (!response.ok || !cookie)
    throw new Error(`${request.url} responded with ${response.status} and without a cookie.`);
  const token = response.headers.get("x-csrf-token");
  return token ? { cookie, "x-csrf-token": token } : { cookie };
}
