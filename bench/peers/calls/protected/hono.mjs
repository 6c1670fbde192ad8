import { createAdaptorServer } from "@hono/node-server";
import { zValidator } from "@hono/zod-validator";
import { announce } from "../../listen.mjs";
import { echoArguments } from "../zod.mjs";
import { createProtectedApp, userOf } from "./hono-host.mjs";

const app = createProtectedApp({ limitsBodies: process.env.BENCH_LIMIT_BODIES === "1" });
const echo = (c) => {
  const { text, n } = c.req.valid("json");
  return c.json({ result: { text, n } });
};
const requireUser = async (c, next) => ((await userOf(c)) ? next() : c.json({ error: "Sign in first." }, 401));
app.post("/echo", zValidator("json", echoArguments), echo);
app.post("/echo_signed_in", requireUser, zValidator("json", echoArguments), echo);
announce(createAdaptorServer(app));
