/**
 * Bearer tokens at the path of a file that was deleted after the build: a route of the path handles the request. @see docs/protocol.md 7.9
 */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildProcesses } from "#test/built-processes";
import { type RunningServer, startBuilt } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";

let site: TestProject;
let running: RunningServer;

beforeAll(async () => {
  site = await buildProcesses();
  running = await startBuilt(site.dir, { WEB_AUTH_SECRET: randomBytes(32).toString("hex") });
});

afterAll(async () => {
  await running?.stop();
  site?.remove();
});

const send = (...[path, init]: [path: string, init: RequestInit]) => fetch(running.address + path, init);

it("decides the user of a route whose file was deleted after the build, and never its session cookie", async () => {
  const headers = { "content-type": "application/json" };
  const signedIn = await send("/__web/rpc/enter", { method: "POST", headers, body: '{"args":{"user":"ada"}}' });
  const [cookie = ""] = signedIn.headers.getSetCookie()[0]?.split(";") ?? [];
  const get = (authorization?: string) =>
    send("/reports/may.txt", { headers: { cookie, ...(authorization && { authorization }) } });
  expect(await (await get("Bearer unknown")).text()).toBe("of the build");
  rmSync(site.file("dist/client/reports/may.txt"));
  expect(await (await get()).text()).toBe("for ada");
  expect((await get("Bearer unknown")).status).toBe(401);
  expect(await (await get("Bearer token-of-grace")).text()).toBe("for grace");
});
