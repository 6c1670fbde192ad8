/**
 * A burst of sign-ins, on an application in a process of its own: whatever hashing costs, the rest is answered.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Running, startDev } from "#test/run-tsweb";
import { Site } from "#test/site";

const SIGN_INS = 50;
/** Two are hashed at once, and 32 wait. One that comes when the first are done finds room again. */
const ADMITTED = 34;
const ROUNDS = 10;

const FILES = {
  "src/app.ts": `
    import { App } from "tsweb";
    import * as calls from "./calls.server.ts";
    export default new App({ modules: [calls] });`,
  "src/calls.server.ts": `
    import { page, server } from "tsweb";
    import { verify_password } from "tsweb/auth";
    export const home = page("/", () => "Home");
    export const login = server((password: string) => verify_password(password, undefined));
    export const ping = server(() => "pong");`,
  "public/file.txt": "a file",
};

let site: Site;
let running: Running;

beforeAll(async () => {
  site = Site.of(FILES);
  running = await startDev(site.dir);
});
afterAll(async () => {
  await running?.stop();
  site?.remove();
});

async function call(name: string, args: object) {
  const response = await fetch(`${running.address}/__web/rpc/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ args }),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}

it(`answers other calls, pages and files while ${SIGN_INS} sign in at once`, async () => {
  expect(await call("ping", {})).toEqual({ status: 200, body: { result: "pong" } });

  let hashed = 0;
  const signIns = Array.from({ length: SIGN_INS }, async () => {
    const answer = await call("login", { password: "analytical engine" });
    if (answer.status === 200) hashed++;
    return answer;
  });
  // One after another, so that one that had to wait for a hash would show.
  const statuses: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    statuses.push((await call("ping", {})).status);
    for (const path of ["/", "/file.txt"]) statuses.push((await fetch(running.address + path)).status);
  }
  const hashedMeanwhile = hashed;

  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(hashedMeanwhile).toBeLessThan(ADMITTED);
  const answers = await Promise.all(signIns);
  expect(hashed).toBeGreaterThanOrEqual(ADMITTED);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect(answer).toMatchObject({ status: 429, body: { error: { code: "rate_limited" } } });
  }
});
