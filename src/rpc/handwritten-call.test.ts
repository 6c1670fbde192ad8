import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { setDevelopment } from "#test/development";
import { RPCError } from "../errors.ts";

let logged: string[] = [];
beforeEach(() => {
  logged = [];
  vi.spyOn(console, "error").mockImplementation((...input) => void logged.push(input.map(String).join(" ")));
});
afterEach(() => {
  vi.restoreAllMocks();
});

const JSON_TYPE = { "content-type": "application/json" };
const OF_PAGE = { "sec-fetch-site": "same-origin" };

/** Sends a request below the path of calls, and returns what is logged for it. */
async function logOf(path: string, init: RequestInit, isDev = true): Promise<string> {
  const missing = () => {
    throw new RPCError("not_found", "No such room.");
  };
  const app = createTestApp({ sign: compiledServer("sign", () => 1), room: compiledServer("room", missing) });
  if (isDev) setDevelopment(app);
  const before = logged.length;
  await app.fetch(new Request(`http://localhost/__web/rpc/${path}`, init));
  return logged.slice(before).join("\n");
}

it.each([
  [
    "sign",
    { method: "POST", body: "{}" },
    "POST /__web/rpc/sign was refused with 415. The content type of a call must be",
  ],
  ["sign", { headers: OF_PAGE }, "GET /__web/rpc/sign was refused with 405. Method GET is not allowed"],
  [
    "save",
    { method: "POST", headers: JSON_TYPE, body: '{"args":{}}' },
    "was refused with 404. There is no server function",
  ],
])("development logs a call that no stub sends, with how to call the function: %s %j", async (path, init, says) => {
  const line = await logOf(path, init);
  expect(line).toContain(says);
  expect(line).toContain("import it and call it like any function: tsweb sends the request.");
  expect(await logOf(path, init, false)).toBe("");
});

it("logs nothing for a request of tsweb/client for the parameters, a call, and an error of the function", async () => {
  expect(await logOf("sign", {})).toBe("");
  expect(await logOf("sign", { method: "POST", headers: JSON_TYPE, body: '{"args":{}}' })).toBe("");
  expect(await logOf("room", { method: "POST", headers: JSON_TYPE, body: '{"args":{}}' })).not.toContain("refused");
});
