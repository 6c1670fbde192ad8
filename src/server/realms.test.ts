/** Applications with one secret: what one of them has signed is valid in another one only if both have one realm. */
import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { callOverHttp, compiledPage, compiledServer, createTestApp } from "#test/compiled-app";
import { issueFeed, liveFunctions, requestLive } from "#test/live-client";
import type { App } from "../app.ts";
import { issue_magic_token, verify_magic_token } from "../auth/index.ts";
import { session } from "../session/index.ts";

const SECRETS = {
  WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
  WEB_CSRF_SECRET: randomBytes(32).toString("hex"),
};

const apps: App[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

function open(env: Readonly<Record<string, string>>): App {
  const { WEB_AUTH_SECRET = "" } = SECRETS;
  const app = createTestApp(
    {
      ...liveFunctions,
      enter_admin: compiledServer("enter_admin", () => session.login("ada", { roles: ["admin"] })),
      who: compiledServer("who", () => session.user()?.sub ?? "nobody"),
      manage: compiledServer("manage", () => session.require("admin").sub),
      save: compiledServer("save", () => "saved", { options: { auth_required: true } }),
      issue: compiledServer("issue", () => issue_magic_token(WEB_AUTH_SECRET, "ada", { ttl: 900 })),
      redeem: compiledServer("redeem", (token: string) => verify_magic_token(WEB_AUTH_SECRET, token), {
        params: { token: "any" },
      }),
      page: compiledPage("/", () => "page"),
    },
    { rate: false, env: { ...SECRETS, ...env } },
  );
  apps.push(app);
  return app;
}

async function resultOf(response: Promise<Response>): Promise<unknown> {
  const { result, error } = await (await response).json();
  return error ? error.code : result;
}

/** Signs in, and returns the headers of the next call: the cookie and the CSRF token. */
async function enter(app: App): Promise<{ cookie: string; "x-csrf-token": string }> {
  const response = await callOverHttp(app, "enter_admin");
  return {
    cookie: String(response.headers.get("set-cookie")).split(";")[0] ?? "",
    "x-csrf-token": String(response.headers.get("x-csrf-token")),
  };
}

/** What an application does with what another one has signed, by purpose. */
async function accepted(issuer: App, receiver: App): Promise<Record<string, unknown>> {
  const user = await enter(issuer);
  const { cookie } = user;
  const magic = await resultOf(callOverHttp(issuer, "issue"));
  return {
    session: await resultOf(callOverHttp(receiver, "who", {}, { headers: { cookie } })),
    role: await resultOf(callOverHttp(receiver, "manage", {}, { headers: { cookie } })),
    csrf: await resultOf(
      callOverHttp(
        receiver,
        "save",
        {},
        { headers: { ...(await enter(receiver)), "x-csrf-token": user["x-csrf-token"] } },
      ),
    ),
    call: await resultOf(callOverHttp(receiver, "save", {}, { headers: user })),
    feed: (await requestLive(receiver, "poll", [await issueFeed(issuer, "room")])).status,
    "feed of a user": (
      await requestLive(receiver, "poll", [await issueFeed(issuer, "room", { cookie })], { headers: { cookie } })
    ).status,
    magic: await resultOf(callOverHttp(receiver, "redeem", { token: magic })),
  };
}

const ALL = { session: "ada", role: "ada", call: "saved", feed: 200, "feed of a user": 200, magic: "ada" };
const NOTHING = {
  session: "nobody",
  role: "unauthenticated",
  csrf: "forbidden",
  call: "unauthenticated",
  feed: 403,
  "feed of a user": 403,
  magic: null,
};

describe("applications with one secret", () => {
  it("of different realms refuse each other's sessions, roles, CSRF tokens, feeds and magic tokens [SESSION-3]", async () => {
    const [shop, admin] = [open({ WEB_REALM: "shop" }), open({ WEB_REALM: "admin" })];
    expect(await accepted(shop, admin)).toEqual(NOTHING);
    expect(await accepted(admin, shop)).toEqual(NOTHING);
    expect(await accepted(shop, shop)).toMatchObject(ALL);
  });

  it("also with a secret that one of them lists as a previous one [SESSION-4]", async () => {
    const shop = open({ WEB_REALM: "shop" });
    const env = { WEB_AUTH_SECRET: randomBytes(32).toString("hex"), WEB_AUTH_SECRET_PREVIOUS: SECRETS.WEB_AUTH_SECRET };
    expect(await accepted(shop, open({ ...env, WEB_REALM: "admin" }))).toEqual(NOTHING);
    expect(await accepted(shop, open({ ...env, WEB_REALM: "shop" }))).toMatchObject(ALL);
  });

  it("of one name, in one process, are one realm unless they set it", async () => {
    expect(await accepted(open({}), open({}))).toMatchObject(ALL);
    expect(await accepted(open({}), open({ WEB_REALM: "other" }))).toEqual(NOTHING);
  });

  it("have one realm if they set the same", async () => {
    expect(await accepted(open({ WEB_REALM: "@acme/shop" }), open({ WEB_REALM: "@acme/shop" }))).toMatchObject(ALL);
  });
});
