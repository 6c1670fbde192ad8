import { expect, it } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { SECRET } from "#test/environment";
import { session } from "../session/index.ts";
import { visitor } from "../testing/index.ts";

/** Calls a function for administrators as a user with these claims. */
async function refuse(claims: Record<string, string | string[]>, env: Record<string, string> = {}) {
  const lines: string[] = [];
  const info = (fields: object) => {
    if ("reason" in fields) lines.push(String(fields.reason));
  };
  const log = { info, warn: () => undefined, error: () => undefined };
  const module = { remove: compiledServer("remove", () => session.require("admin").sub) };
  const user = visitor(createTestApp(module, { log, env: { WEB_AUTH_SECRET: SECRET, ...env } }));
  user.login("ada", claims);
  const error = await user.rpc("remove").catch((thrown: unknown) => thrown);
  return { error, lines };
}

const PUBLIC = { code: "forbidden", message: "You are not allowed to do this.", details: {} };
const LOGIN = 'session.login(id, { roles: ["admin"] })';

it.each<[claims: Record<string, string | string[]>, reason: string]>([
  [{ role: "admin" }, `The session has no claim "roles", which session.require reads. Sign in with ${LOGIN}.`],
  [{ roles: "admin" }, `The claim "roles" of the session is not an array of strings. Sign in with ${LOGIN}.`],
  [{ roles: ["editor"] }, `The claim "roles" of the session lacks "admin". It is the claim of the sign-in: ${LOGIN}.`],
])("logs in development why a role is missing, and sends the general message: %j", async (claims, reason) => {
  const { error, lines } = await refuse(claims);
  expect(error).toMatchObject(PUBLIC);
  expect(lines).toEqual([`You are not allowed to do this. ${reason}`]);
});

it("logs only the general message about a missing role in production", async () => {
  const { error, lines } = await refuse({ role: "admin" }, { WEB_ENV: "production" });
  expect(error).toMatchObject(PUBLIC);
  expect(lines).toEqual(["You are not allowed to do this."]);
});
