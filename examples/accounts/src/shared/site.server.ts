/** The URL of the site, for passkeys and sign-in links. */
import { request } from "tsweb";

/**
 * Returns the origin of the site: the first of `WEB_ORIGIN`, or localhost if it is not set. Any other `Host` header is
 * not trusted: an attacker could send the name of another site, and a user would get a link to that site by mail.
 *
 * @throws Error if `WEB_ORIGIN` is not set and the host is not localhost
 */
export function siteUrl(): URL {
  const [configured] = process.env.WEB_ORIGIN?.split(",") ?? [];
  if (configured) return new URL(configured.trim());
  const local = new URL(`http://${request.headers.host}`);
  if (!["localhost", "127.0.0.1", "[::1]"].includes(local.hostname)) {
    throw new Error(
      "WEB_ORIGIN is not set. Passkeys and links need it. Set it to this site's address, for example https://accounts.example.",
    );
  }
  return local;
}
