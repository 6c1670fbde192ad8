import { initTRPC } from "@trpc/server";
import { createHTTPServer } from "@trpc/server/adapters/standalone";
import { announce } from "../listen.mjs";
import { echoArguments } from "./zod.mjs";

const t = initTRPC.create({ isDev: false });
const router = t.router({
  echo: t.procedure.input(echoArguments).mutation(({ input: { text, n } }) => ({ text, n })),
});
announce(createHTTPServer({ router }));
