import { expect, test } from "vitest";
import { readTestModule } from "#test/in-memory-modules";
import { timeLimitWarnings } from "./time-limits.ts";

const HEAD = 'import { App, server } from "tsweb";\n';
const warningsOf = (code: string) =>
  timeLimitWarnings(readTestModule("src/a.server.ts", HEAD + code), { root: "/app" });

test("a time limit that is probably meant in milliseconds gets a warning", () => {
  expect(warningsOf("export const load = server({ auth: true, rpc_timeout: 5_000 }, async () => 1);")).toEqual([
    "`rpc_timeout` at src/a.server.ts:2 is 5000 seconds, which are 83 minutes. If milliseconds are meant, write rpc_timeout: 5. " +
      "Otherwise write the product, for example 20 * 60.",
  ]);
  expect(warningsOf("export default new App({ modules: [], rpc_timeout: 1000 });")).toHaveLength(1);
});

test.each([
  "export const load = server({ rpc_timeout: 999 }, async () => 1);",
  "export const load = server({ rpc_timeout: 20 * 60 }, async () => 1);",
  "export const load = server({ rpc_timeout: limit }, async () => 1);",
  "export const options = { rpc_timeout: 5000 };",
  "other({ rpc_timeout: 5000 });",
  "const load = (server) => server({ rpc_timeout: 5000 });",
])("gets no warning: %s", (code) => {
  expect(warningsOf(code)).toEqual([]);
});
