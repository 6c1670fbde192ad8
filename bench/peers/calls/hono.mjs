import { createAdaptorServer } from "@hono/node-server";
import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { announce } from "../listen.mjs";
import { echoArguments } from "./zod.mjs";

const app = new Hono();
app.post("/echo", zValidator("json", echoArguments), (c) => {
  const { text, n } = c.req.valid("json");
  return c.json({ result: { text, n } });
});
announce(createAdaptorServer(app));
