/**
 * Which site this is: passkeys belong to it, and links lead to it.
 */
import { request } from "tsweb";

/**
 * Gives the site's origin: the first of `WEB_ORIGIN`. Without it this is a machine at which somebody
 * tries the example out. The `Host` header alone is no answer: whoever sends it chooses it, and could
 * have a link mailed that leads to them.
 *
 * @throws Error when there is no `WEB_ORIGIN`, and the visitor comes from elsewhere
 */
export function site(): URL {
  const [configured] = process.env.WEB_ORIGIN?.split(",") ?? [];
  if (configured) return new URL(configured.trim());
  const local = new URL(`http://${request.headers.host}`);
  if (!["localhost", "127.0.0.1", "[::1]"].includes(local.hostname)) {
    throw new Error("Set WEB_ORIGIN to this site's address, as https://accounts.example: passkeys and links need it.");
  }
  return local;
}
