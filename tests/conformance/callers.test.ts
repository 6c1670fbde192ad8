import { afterAll, beforeAll } from "vitest";
import { createTestApp } from "#test/compiled-app";
import { type LocalServer, listen } from "#test/listen";
import { node } from "../../src/adapters/index.ts";
import { client } from "../../src/client/index.ts";
import { visitor } from "../../src/testing/index.ts";
import { type Callers, describeCallers, functions } from "./callers.ts";

const app = createTestApp(functions, { rate: false });
let server: LocalServer;
beforeAll(async () => {
  server = await listen(node(app));
});
afterAll(() => server.close());

describeCallers("directly on the server", () => functions, { hasRequest: false });
describeCallers("by visitor() in the same process", () => visitor(app).client<Callers>(), { hasRequest: true });
describeCallers("by a client over HTTP", () => client<Callers>(server.address), { hasRequest: true });
