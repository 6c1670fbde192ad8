import Fastify from "fastify";
import { announce } from "../listen.mjs";
import { echoSchema } from "./fastify-schema.mjs";

const app = Fastify();
app.post("/echo", { schema: echoSchema, handler: async ({ body: { text, n } }) => ({ result: { text, n } }) });
await app.listen({ port: 0, host: "127.0.0.1" });
announce(app.server);
