import { initTRPC } from "@trpc/server";
import { createHTTPServer } from "@trpc/server/adapters/standalone";
import { z } from "zod";
import { announce } from "./listen.mjs";

const t = initTRPC.create({ isDev: false });
const router = t.router({
  echo: t.procedure
    .input(z.object({ text: z.string(), n: z.number().int() }))
    .mutation(({ input: { text, n } }) => ({ text, n })),
});
announce(createHTTPServer({ router }));
