// tRPC mounted in Fastify with its adapter for Fastify, and protected by Fastify's plugins.
import { initTRPC, TRPCError } from "@trpc/server";
import { fastifyTRPCPlugin } from "@trpc/server/adapters/fastify";
import { echoArguments } from "../zod.mjs";
import { createProtectedServer, listen } from "./fastify-host.mjs";

const t = initTRPC.context().create({ isDev: false });
const signedIn = t.procedure.use(({ ctx, next }) => {
  if (ctx.session.get("user") === undefined) throw new TRPCError({ code: "UNAUTHORIZED" });
  return next();
});
const echo = ({ input: { text, n } }) => ({ text, n });
const router = t.router({
  echo: t.procedure.input(echoArguments).mutation(echo),
  echo_signed_in: signedIn.input(echoArguments).mutation(echo),
});
const app = await createProtectedServer();
await app.register(fastifyTRPCPlugin, {
  prefix: "/trpc",
  trpcOptions: { router, createContext: ({ req }) => ({ session: req.session }) },
});
await listen(app);
