/** A session whose signature is of no secret of the process: the client is signed out, and the log has the reason. */
import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { call, createRevocableApp, enter } from "#test/revocable-app";
import type { App } from "../app.ts";

const OLD = randomBytes(32).toString("hex");
const NEW = randomBytes(32).toString("hex");

const apps: App[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

/** Starts an application in production, as one of several processes. */
async function start(secret: string, previous = "", env: Readonly<Record<string, string>> = {}) {
  const { log, lines } = recordedLog();
  const settings = { WEB_ENV: "production", WEB_ORIGIN: "http://shop.example", WEB_COOKIE_SECURE: "0" };
  const secrets = { WEB_AUTH_SECRET: secret, WEB_AUTH_SECRET_PREVIOUS: previous };
  const app = createRevocableApp({ log, env: { ...settings, ...secrets, ...env } });
  apps.push(app);
  await app.start();
  const refusals = () => lines.filter(({ fields }) => "reason" in fields && fields.reason === "unknown_secret");
  return { app, refusals };
}

/** Changes one part of a cookie's token: its payload or its signature. */
function change(cookie: string, edit: (payload: string, signature: string) => string): string {
  const [, name = "", payload = "", signature = ""] = /^([^=]+)=([^.]+)\.(.+)$/.exec(cookie) ?? [];
  return `${name}=${edit(payload, signature)}`;
}

const encode = (payload: unknown) => Buffer.from(JSON.stringify(payload)).toString("base64url");
const decode = (payload: string) => JSON.parse(Buffer.from(payload, "base64url").toString());

describe("a process that lacks the secret with which another one signs", () => {
  it("logs once a minute that it refuses the session, and how to fix it, without any part of the cookie", async () => {
    const half = await start(OLD);
    const complete = await start(NEW, OLD);
    const cookie = await enter(complete.app, "grace");
    for (let times = 0; times < 20; times++) expect(await call(half.app, "who", {}, cookie)).toBe("nobody");
    expect(half.refusals()).toEqual([
      {
        level: "warn",
        fields: expect.objectContaining({ reason: "unknown_secret", refused: 1, id: expect.any(String) }),
        message: expect.stringMatching(/^A session was refused: .* \(Changing the secret\)/),
      },
    ]);
    const [value = ""] = cookie.split("=").slice(1);
    const logged = JSON.stringify(half.refusals());
    // The name is no hexadecimal number, which the id of the request could contain.
    for (const secret of [...value.split("."), "grace", OLD, NEW]) expect(logged).not.toContain(secret);
    expect(await call(complete.app, "who", {}, await enter(half.app, "grace"))).toBe("grace");
    expect(complete.refusals()).toEqual([]);
  });

  it("counts the sessions that it has refused, for the log", async () => {
    const { app, refusals } = await start(OLD);
    const cookie = await enter((await start(NEW)).app, "ada");
    for (let times = 0; times < 3; times++) await call(app, "who", {}, cookie);
    await app.close();
    expect(refusals()[1]).toMatchObject({
      fields: { refused: 2 },
      message: expect.stringMatching(/^2 sessions were refused in the last minute\. /),
    });
  });
});

describe("the log has no line", () => {
  const DAY_SECONDS = 24 * 3600;

  it.each([
    ["about no cookie", () => ""],
    ["about a signature of another length", (cookie: string) => change(cookie, (payload) => `${payload}.AAAA`)],
    ["about a cookie without a signature", (cookie: string) => change(cookie, (payload) => payload)],
    ["about a third part", (cookie: string) => `${cookie}.AAAA`],
    [
      "about a payload that is no session",
      (cookie: string) => change(cookie, (_, mac) => `${encode({ sub: "ada" })}.${mac}`),
    ],
    ["about a payload that is no JSON", (cookie: string) => change(cookie, (_, mac) => `AAAA.${mac}`)],
    [
      "about a session that has expired",
      (cookie: string) =>
        change(cookie, (payload, mac) => {
          const { iat, exp, ...rest } = decode(payload);
          return `${encode({ ...rest, iat: iat - 8 * DAY_SECONDS, exp: exp - 8 * DAY_SECONDS })}.${mac}`;
        }),
    ],
  ])("%s", async (_, edit) => {
    const { app, refusals } = await start(OLD);
    const cookie = await enter((await start(NEW)).app, "ada");
    expect(await call(app, "who", {}, edit(cookie))).toBe("nobody");
    expect(refusals()).toEqual([]);
  });

  it("about the cookie of another application on localhost in development", async () => {
    const { app, refusals } = await start(OLD, "", { WEB_ENV: "development" });
    const cookie = await enter((await start(NEW)).app, "ada");
    expect(await call(app, "who", {}, cookie)).toBe("nobody");
    expect(refusals()).toEqual([]);
  });
});
