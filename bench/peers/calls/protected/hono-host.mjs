// A Hono server with its official middleware: security headers, request ids, rate limit, origin check, signed cookie.
import { getConnInfo } from "@hono/node-server/conninfo";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { getSignedCookie, setSignedCookie } from "hono/cookie";
import { csrf } from "hono/csrf";
import { requestId } from "hono/request-id";
import { secureHeaders } from "hono/secure-headers";
import { rateLimiter } from "hono-rate-limiter";
import { CALLS_PER_MINUTE, MAX_BODY_BYTES, SESSION_KEY } from "../settings.mjs";

/**
 * Returns a Hono application with all protections, and a route that signs in.
 *
 * @param options `limitsBodies`: with `bodyLimit`, for which `@hono/node-server` creates a Fetch `Request` and reads its stream
 */
export function createProtectedApp({ limitsBodies = false } = {}) {
  const app = new Hono();
  app.use(requestId(), secureHeaders(), csrf());
  if (limitsBodies) app.use(bodyLimit({ maxSize: MAX_BODY_BYTES }));
  app.use(
    rateLimiter({
      windowMs: 60_000,
      limit: CALLS_PER_MINUTE,
      keyGenerator: (c) => getConnInfo(c).remote.address,
    }),
  );
  app.post("/sign_in", async (c) => {
    await setSignedCookie(c, "session", "ada@example.org", SESSION_KEY, { httpOnly: true, sameSite: "Lax" });
    return c.json({ result: null });
  });
  return app;
}

/** Returns the user of the session cookie; undefined if there is none, false if its signature is wrong. */
export const userOf = (c) => getSignedCookie(c, SESSION_KEY, "session");
