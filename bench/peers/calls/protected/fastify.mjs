import { echoSchema } from "../fastify-schema.mjs";
import { createProtectedServer, listen } from "./fastify-host.mjs";

const app = await createProtectedServer();
const echo = async ({ body: { text, n } }) => ({ result: { text, n } });
app.post("/echo", { schema: echoSchema, handler: echo });
app.post("/echo_signed_in", {
  schema: echoSchema,
  preHandler: async (request, reply) => {
    if (request.session.get("user") === undefined) return reply.code(401).send({ error: "Sign in first." });
  },
  handler: echo,
});
await listen(app);
