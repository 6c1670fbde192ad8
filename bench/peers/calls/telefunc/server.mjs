import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { Telefunc } from "telefunc/node";
import { announce } from "../../listen.mjs";
import "./echo.telefunc.ts";

const telefunc = new Telefunc();
const app = new Hono();
app.all("/_telefunc", (c) => telefunc.serve({ request: c.req.raw }));
announce(createAdaptorServer(app));
