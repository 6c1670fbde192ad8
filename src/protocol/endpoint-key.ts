/**
 * Returns the key of an endpoint: two endpoints with the same key match the same requests, so that one would never be
 * reached. The names of parameters do not make two paths different.
 *
 * @param method of the request; a page handles GET
 */
export function endpointKey(method: string, path: string): string {
  return `${method} ${path.replace(/:[A-Za-z_]\w*/g, ":")}`;
}
