// A Fastify server with its official plugins: security headers, request ids, rate limit, origin check, cookie session, CSRF
// tokens of signed-in clients.
import { randomUUID } from "node:crypto";
import cors from "@fastify/cors";
import csrfProtection from "@fastify/csrf-protection";
import helmet from "@fastify/helmet";
import rateLimit from "@fastify/rate-limit";
import secureSession from "@fastify/secure-session";
import Fastify from "fastify";
import { announce } from "../../listen.mjs";
import { CALLS_PER_MINUTE, SESSION_KEY } from "../settings.mjs";

/** The origin of this site; known as soon as the server listens. */
let site;

/** The check of the documentation of `@fastify/cors`: a function that passes an error for a foreign origin. */
function checkOrigin(origin, callback) {
  if (origin === undefined || origin === site) return callback(null, true);
  callback(Object.assign(new Error("Cross-origin requests are not allowed."), { statusCode: 403 }), false);
}

/** Returns a Fastify server with all protections, and a route that signs in. */
export async function createProtectedServer() {
  const app = Fastify({ genReqId: () => randomUUID() });
  await app.register(helmet);
  await app.register(rateLimit, { max: CALLS_PER_MINUTE, timeWindow: "1 minute" });
  await app.register(cors, { origin: checkOrigin });
  await app.register(secureSession, { key: SESSION_KEY, cookie: { path: "/", httpOnly: true, sameSite: "lax" } });
  await app.register(csrfProtection, { sessionPlugin: "@fastify/secure-session" });
  app.addHook("onRequest", (request, reply, done) => {
    if (request.session.get("user") === undefined) done();
    else app.csrfProtection(request, reply, done);
  });
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    done();
  });
  app.post("/sign_in", (request, reply) => {
    request.session.set("user", "ada@example.org");
    reply.header("x-csrf-token", reply.generateCsrf()).send({ result: null });
  });
  return app;
}

/** Makes the server listen, and prints its address. */
export async function listen(app) {
  site = await app.listen({ port: 0, host: "127.0.0.1" });
  announce(app.server);
}
