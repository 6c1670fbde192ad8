// oRPC mounted in Fastify with its adapter for Fastify, and protected by Fastify's plugins.
import { ORPCError, os } from "@orpc/server";
import { RPCHandler } from "@orpc/server/fastify";
import { echoArguments } from "../zod.mjs";
import { createProtectedServer, listen } from "./fastify-host.mjs";

const signedIn = os.middleware(({ context, next }) => {
  if (context.session.get("user") === undefined) throw new ORPCError("UNAUTHORIZED");
  return next();
});
const echo = ({ input: { text, n } }) => ({ text, n });
const handler = new RPCHandler({
  echo: os.input(echoArguments).handler(echo),
  echo_signed_in: os.use(signedIn).input(echoArguments).handler(echo),
});
const app = await createProtectedServer();
app.all("/rpc/*", async (request, reply) => {
  const { matched } = await handler.handle(request, reply, { prefix: "/rpc", context: { session: request.session } });
  if (!matched) reply.code(404).send();
});
await listen(app);
