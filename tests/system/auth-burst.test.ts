/**
 * A burst of sign-ins on an application in a process of its own: hashing does not block other requests.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { fasterHashing } from "#test/faster-hashing";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";

const SIGN_INS = 50;
const CLIENTS = 5;
/** Two passwords are hashed at a time and 32 wait. Further sign-ins may wait after a hash has finished. */
const ACCEPTED = 34;
const ROUNDS = 5;

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

let site: TestProject;
let running: RunningServer;

beforeAll(async () => {
  site = TestProject.fromFiles(FILES);
  running = await startDev(site.dir, { WEB_TRUST_PROXY: "1", ...fasterHashing(4) });
});
afterAll(async () => {
  await running?.stop();
  site?.remove();
});

/** Calls a function as a client with this address. */
async function call(name: string, args: object, address = "192.0.2.100") {
  const response = await fetch(`${running.address}/__web/rpc/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": address },
    body: JSON.stringify({ args }),
  });
  return { status: response.status, body: (await response.json()) as unknown };
}

it(`responds to other calls, pages and files during ${SIGN_INS} concurrent sign-ins [SIGNIN-8]`, async () => {
  expect(await call("ping", {})).toEqual({ status: 200, body: { result: "pong" } });

  let hashed = 0;
  const signIns = Array.from({ length: SIGN_INS }, async (_, i) => {
    const response = await call("login", { password: "analytical engine" }, `192.0.2.${i % CLIENTS}`);
    if (response.status === 200) hashed++;
    return response;
  });
  // One after another, so that all hashes would have finished if one of them had to wait.
  const statuses: number[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    statuses.push((await call("ping", {})).status);
    for (const path of ["/", "/file.txt"]) statuses.push((await fetch(running.address + path)).status);
  }
  const hashedDuringRounds = hashed;

  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(hashedDuringRounds).toBeLessThan(ACCEPTED);
  const responses = await Promise.all(signIns);
  expect(hashed).toBeGreaterThanOrEqual(ACCEPTED);
  for (const response of responses.filter(({ status }) => status !== 200)) {
    expect(response).toMatchObject({ status: 429, body: { error: { code: "rate_limited" } } });
  }
});

it("signs in another client while one client has 36 sign-ins in flight", async () => {
  const burst = Array.from({ length: 36 }, () => call("login", { password: "x" }, "192.0.2.1"));
  const statuses: number[] = [];
  for (const signIn of burst) void signIn.then(({ status }) => statuses.push(status));
  // Two are hashed, and eight of the client wait. More are accepted if hashes end before all sign-ins have arrived.
  await expect.poll(() => statuses.filter((status) => status === 429).length).toBeGreaterThan(10);
  expect(await call("login", { password: "analytical engine" }, "192.0.2.2")).toMatchObject({ status: 200 });
  const acceptedBefore = statuses.filter((status) => status === 200).length;
  const responses = await Promise.all(burst);
  expect(acceptedBefore).toBeLessThan(responses.filter(({ status }) => status === 200).length);
  const refused = responses.filter(({ status }) => status === 429);
  expect(refused.length).toBeLessThanOrEqual(36 - 2 - 8);
  for (const { body } of refused) {
    expect(body).toMatchObject({ error: { code: "rate_limited", details: { retry_after: expect.any(Number) } } });
  }
});
