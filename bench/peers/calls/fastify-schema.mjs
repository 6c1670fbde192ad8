const fields = {
  type: "object",
  required: ["text", "n"],
  properties: { text: { type: "string" }, n: { type: "integer" } },
};

/** Fastify validates the arguments, and generates code that serializes the result. */
export const echoSchema = {
  body: fields,
  response: { 200: { type: "object", properties: { result: fields } } },
};
