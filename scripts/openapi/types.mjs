// Generates TypeScript types with openapi-typescript. Reads a JSON object of OpenAPI documents by their names from stdin,
// and prints one of the types' source texts.
import { json } from "node:stream/consumers";
import openapiTypeScript, { astToString } from "openapi-typescript";

const types = {};
for (const [name, document] of Object.entries(await json(process.stdin))) {
  types[name] = astToString(await openapiTypeScript(document));
}
console.log(JSON.stringify(types));
