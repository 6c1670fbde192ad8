// Telefunc mounted in Hono, and protected by Hono's middleware.
import { createAdaptorServer } from "@hono/node-server";
import { Telefunc } from "telefunc/node";
import { announce } from "../../listen.mjs";
import { createProtectedApp, userOf } from "../protected/hono-host.mjs";
import "./echo.telefunc.ts";

const telefunc = new Telefunc();
const app = createProtectedApp();
app.all("/_telefunc", async (c) => {
  const response = await telefunc.serve({ request: c.req.raw, context: { user: await userOf(c) } });
  response.headers.set("x-request-id", c.get("requestId")); // Hono adds it only to responses that it has created itself
  return response;
});
announce(createAdaptorServer(app));
