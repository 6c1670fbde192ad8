import { createAdaptorServer } from "@hono/node-server";
import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { z } from "zod";
import { announce } from "./listen.mjs";

const app = new Hono();
app.post("/echo", zValidator("json", z.object({ text: z.string(), n: z.number().int() })), (c) => {
  const { text, n } = c.req.valid("json");
  return c.json({ result: { text, n } });
});
announce(createAdaptorServer(app));
