import Fastify from "fastify";
import { announce } from "./listen.mjs";

const fields = {
  type: "object",
  required: ["text", "n"],
  properties: { text: { type: "string" }, n: { type: "integer" } },
};
const app = Fastify();
app.post("/echo", {
  schema: { body: fields, response: { 200: { type: "object", properties: { result: fields } } } },
  handler: async ({ body: { text, n } }) => ({ result: { text, n } }),
});
await app.listen({ port: 0, host: "127.0.0.1" });
announce(app.server);
