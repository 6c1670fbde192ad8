/** Header smuggling: Node keeps the first of two headers Authorization, and a proxy may have checked the second one. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { type LocalServer, listen } from "#test/listen";
import { callBytes, sendBytes } from "#test/raw-http";
import { session } from "../session/index.ts";
import { node } from "./node.ts";

const ask = vi.fn((token: string) => ({ sub: token }));
const run = vi.fn(() => session.user()?.sub ?? null);
let server: LocalServer;
beforeAll(async () => {
  const whoami = compiledServer("whoami", run);
  server = await listen(node(createTestApp({ whoami }, { authenticate: ask })));
});
afterAll(() => server.close());

function callWith(...lines: string[]) {
  return sendBytes(server.address, callBytes("whoami", {}, ...lines, "Connection: close"));
}

it.each([
  [["Authorization: Bearer a", "Authorization: Bearer b"]],
  [["Authorization: Bearer a", "Authorization: Bearer a"]],
  [["Authorization: Basic YTpi", "authorization: Bearer b"]],
  [["authorization: bearer a", "AUTHORIZATION: Basic YTpi"]],
  [["Authorization:", "Authorization: Bearer b"]],
])("a repeated header Authorization is refused: %j [BEARER-28]", async (lines) => {
  expect((await callWith(...lines)).text).toMatch(/^HTTP\/1.1 400 [\s\S]*"code":"validation_error"/);
  expect(ask).not.toHaveBeenCalled();
  expect(run).not.toHaveBeenCalled();
});

it("one header Authorization is accepted", async () => {
  expect((await callWith("Authorization: Bearer a")).text).toContain('{"result":"a"}');
});
