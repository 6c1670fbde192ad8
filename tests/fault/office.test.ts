/**
 * An office: many users behind one address, through nginx. The times are scaled: three seconds stand for a minute, and a user
 * may make 6 calls in them in place of 120.
 */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { type LocalServer, listen } from "#test/listen";
import { Nginx } from "#test/nginx";
import { recordedLog } from "#test/recorded-log";
import { node } from "../../src/adapters/index.ts";
import type { App } from "../../src/app.ts";
import { session } from "../../src/session/index.ts";
import { visitor } from "../../src/testing/index.ts";

const USERS = 50;
const SPAN_SECONDS = 3;
const CALLS = 6;
/** 5 calls in 3 seconds, as 100 in a minute. */
const PAUSE_MS = 600;
const CALLS_OF_EACH_USER = 10;

const { log, lines } = recordedLog();
let app: App;
let server: LocalServer;
let nginx: Nginx;

beforeAll(async () => {
  app = createTestApp(
    {
      search: compiledServer("search", () => session.require().sub),
      sign_in: compiledServer("sign_in", (user: string) => session.login(user), { params: { user: "any" } }),
    },
    {
      rate: { calls: CALLS, seconds: SPAN_SECONDS },
      log,
      env: { WEB_AUTH_SECRET: "5a".repeat(32), WEB_TRUST_PROXY: "1" },
    },
  );
  server = await listen(node(app));
  nginx = await Nginx.start({ ports: [Number(new URL(server.address).port)] });
});

afterAll(async () => {
  await nginx?.stop();
  await server?.close();
  await app?.close();
});

/** Returns the cookie of a user who has signed in at home. */
async function signIn(user: string, at: number): Promise<string> {
  const client = visitor(app, { headers: { "x-forwarded-for": `192.0.2.${at}` } });
  await client.rpc("sign_in", { user });
  return `web_session=${client.cookies.web_session}`;
}

/** Sends a call through nginx, and returns its status. */
async function search(cookie: string): Promise<number> {
  const headers = { "content-type": "application/json", cookie };
  const response = await fetch(`${nginx.address}/__web/rpc/search`, { method: "POST", headers, body: '{"args":{}}' });
  await response.arrayBuffer();
  return response.status;
}

it("of 50 users with 100 calls a minute behind one address none is refused, and of one more only the one who calls too often [REQUEST-97]", async () => {
  const cookies = await Promise.all(Array.from({ length: USERS }, (_, at) => signIn(`user ${at}`, at)));
  const abuser = await signIn("abuser", USERS);
  const start = performance.now();
  let isWorking = true;

  const work = async (cookie: string, at: number) => {
    await pause((PAUSE_MS * at) / USERS); // not all at the same moment
    const statuses = [];
    for (let call = 0; call < CALLS_OF_EACH_USER; call++) {
      statuses.push(await search(cookie));
      await pause(PAUSE_MS);
    }
    return statuses;
  };
  const abuse = async () => {
    const statuses: number[] = [];
    const countAccepted = () => statuses.filter((status) => status === 200).length;
    // On a machine under load, it takes longer to send as many calls as are refused.
    while (isWorking || statuses.length <= 2 * countAccepted()) {
      statuses.push(await search(abuser));
      await pause(5);
    }
    return statuses;
  };

  const abusing = abuse();
  const received = (await Promise.all(cookies.map(work))).flat();
  isWorking = false;
  const ofAbuser = await abusing;
  const spans = (performance.now() - start) / (SPAN_SECONDS * 1000);

  expect(received).toEqual(Array.from({ length: USERS * CALLS_OF_EACH_USER }, () => 200));
  const accepted = ofAbuser.filter((status) => status === 200).length;
  expect(accepted).toBeGreaterThanOrEqual(CALLS);
  expect(accepted).toBeLessThanOrEqual(CALLS * Math.ceil(spans));
  expect(ofAbuser.filter((status) => status === 429)).toHaveLength(ofAbuser.length - accepted);
  expect(ofAbuser.length).toBeGreaterThan(2 * accepted);
  // The log names the limit, and the address that nginx has seen.
  expect(lines.map(({ message }) => message).join("\n")).toContain("The limit is 6 calls in 3 seconds for one user.");
  expect(new Set(lines.map(({ fields }) => (fields as { address?: string }).address))).toEqual(new Set(["127.0.0.1"]));
});
