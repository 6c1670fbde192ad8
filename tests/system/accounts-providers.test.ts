/**
 * "Continue with …" of the accounts example, built, against a certified OpenID Connect provider and a server that does what
 * GitHub does, and attacks on it.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { freePort } from "#test/free-port";
import { type RunningServer, runScript } from "#test/run-tsweb";
import { startAccounts } from "../browser/accounts-app.ts";
import { describeCallbacks } from "./provider-callbacks.ts";
import {
  app,
  COOKIE,
  copy,
  env,
  expectRefused,
  FAILED,
  github,
  numUsers,
  PASSWORD,
  provider,
  User,
  useProviders,
  visitApplication,
} from "./providers-app.ts";

useProviders();
describeCallbacks();

describe("Continue with a provider of OpenID Connect", () => {
  it("creates an account with a confirmed address, and signs the same user in again", async () => {
    const ada = new User();
    expect((await ada.get("/")).text).toContain('<a href="/sign-in/oidc">Continue with Example</a>');
    expect(await ada.continueWithOidc()).toMatchObject({ status: 303, location: "/account" });
    expect(await ada.signedInAs()).toBe(ada.email);
    expect((await ada.get("/account")).text).toContain("Confirmed");
    expect(ada.cookies.has(COOKIE)).toBe(false);
    await ada.call("logout", {});
    expect(await ada.signedInAs()).toBeNull();
    expect(await ada.continueWithOidc()).toMatchObject({ location: "/account" });
    expect(await ada.signedInAs()).toBe(ada.email);
  });

  it("sends state, nonce and a PKCE challenge, and keeps them in a signed cookie of ten minutes", async () => {
    const ada = new User();
    const url = await ada.start("oidc");
    expect(url.origin).toBe(provider.issuer);
    const { searchParams } = url;
    expect(searchParams.get("code_challenge_method")).toBe("S256");
    expect(searchParams.get("redirect_uri")).toBe(`${app.address}/sign-in/oidc/callback`);
    for (const name of ["state", "nonce", "code_challenge"]) expect(searchParams.get(name)).toMatch(/^[\w-]{43}$/);
    const response = await fetch(`${app.address}/sign-in/oidc`, { redirect: "manual", headers: ada.headers });
    const [line = ""] = response.headers.getSetCookie();
    expect(line).toMatch(new RegExp(`^${COOKIE}=[^;]+; Max-Age=600; Path=/; HttpOnly; SameSite=Lax$`, "i"));
    const again = new URL(response.headers.get("location") ?? "").searchParams;
    for (const name of ["state", "nonce", "code_challenge"]) expect(again.get(name)).not.toBe(searchParams.get(name));
  });

  it("returns to the page that required the sign-in", async () => {
    const ada = new User();
    expect((await ada.get("/?next=%2Faccount%2Fcodes")).text).toContain('href="/sign-in/oidc?next=%2Faccount%2Fcodes"');
    expect(await ada.continueWithOidc("?next=%2Faccount%2Fcodes")).toMatchObject({ location: "/account/codes" });
  });

  it.each([
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/%09/evil.example",
    "javascript:alert(1)",
    "x",
  ])("opens no other site after the sign-in: next=%s", async (next) => {
    const ada = new User();
    const { location } = await ada.continueWithOidc(`?next=${encodeURIComponent(next)}`);
    expect(new URL(location ?? "", app.address).origin).toBe(new URL(app.address).origin);
    expect(await ada.signedInAs()).toBe(ada.email);
  });

  it("requires the one-time code of an account that has switched codes on", async () => {
    const ada = new User();
    await ada.continueWithOidc();
    const secret = (await ada.send("set_up_codes", "/account/codes", {})).text.match(
      /<code class="secret">([^<]+)/,
    )?.[1];
    await changeDatabase(ada.email, SWITCH_CODES_ON);
    expect(secret).toBeDefined();
    await ada.call("logout", {});
    expect(await ada.continueWithOidc("?next=%2Fadmin")).toMatchObject({ location: "/code?next=%2Fadmin" });
    expect(await ada.signedInAs()).toBeNull();
  });

  it("stays linked to its account when the user's address changes there", async () => {
    const ada = new User();
    await ada.continueWithOidc();
    await ada.call("logout", {});
    ada.setProfile({ email: "changed@example.com", email_verified: false });
    await ada.continueWithOidc();
    expect(await ada.signedInAs()).toBe(ada.email);
  });
});

describe("Continue with GitHub", () => {
  const addresses = (email: string, verified: unknown = true) => [
    { email: "other@example.com", primary: false, verified: true },
    { email, primary: true, verified },
  ];

  beforeEach(() => {
    github.isAllowed = true;
  });

  it("signs in with the verified primary address, which the API returns", async () => {
    const grace = new User();
    github.user = { id: numUsers, login: "grace", name: null, emails: addresses(grace.email.toUpperCase()) };
    expect((await grace.get("/")).text).toContain('<a href="/sign-in/github">Continue with GitHub</a>');
    expect(await grace.continueWithGitHub()).toMatchObject({ location: "/account" });
    expect(await grace.signedInAs()).toBe(grace.email);
    expect((await grace.get("/account")).text).toContain("<dd>grace</dd>");
  });

  it.each([[false], ["true"], [1], [null]])("refuses a primary address with verified: %j", async (verified) => {
    const grace = new User();
    await grace.register();
    grace.cookies.clear();
    github.user = { id: numUsers, login: "grace", name: "Grace", emails: addresses(grace.email, verified) };
    await expectRefused(grace, await grace.continueWithGitHub(), "unverified");
  });

  it("identifies users by their id, never by a login, which somebody else can take", async () => {
    const [grace, mallory] = [new User(), new User()];
    github.user = { id: numUsers * 1000, login: "hopper", name: null, emails: addresses(grace.email) };
    await grace.continueWithGitHub();
    github.user = { id: numUsers * 1000 + 1, login: "hopper", name: null, emails: addresses(mallory.email) };
    await mallory.continueWithGitHub();
    expect([await grace.signedInAs(), await mallory.signedInAs()]).toEqual([grace.email, mallory.email]);
    github.user = { id: "85", login: "hopper", name: null, emails: addresses(grace.email) };
    const eve = new User();
    await expectRefused(eve, await eve.continueWithGitHub(), "unreachable");
    expect(app.output()).toContain("The sign-in with github failed: no user id was sent");
  });

  it("explains that the user has not allowed it", async () => {
    github.isAllowed = false;
    const grace = new User();
    await expectRefused(grace, await grace.continueWithGitHub(), "denied");
  });

  it("refuses a code that is used with another verifier (PKCE)", async () => {
    const [grace, mallory] = [new User(), new User()];
    github.user = { id: numUsers, login: "grace", name: null, emails: addresses(grace.email) };
    const stolen = await fetch(await grace.start("github"), { redirect: "manual" });
    const code = new URL(stolen.headers.get("location") ?? "").searchParams.get("code") ?? "";
    const response = await mallory.continueWithGitHub((callback) => callback.searchParams.set("code", code));
    await expectRefused(mallory, response, "unreachable");
  });
});

describe("an existing account", () => {
  it("is signed in to with an address that the provider has verified, and keeps its password if it is confirmed", async () => {
    const ada = new User();
    await ada.register();
    await ada.confirmAddress();
    ada.cookies.clear();
    expect(await ada.continueWithOidc()).toMatchObject({ location: "/account" });
    expect(await ada.signedInAs()).toBe(ada.email);
    expect((await ada.get("/account")).text).toContain("<dd>Ada</dd>"); // not the name at the provider
    expect(await ada.call("login", { email: ada.email, password: PASSWORD })).toMatchObject({ body: { result: true } });
  });

  it.each([[false], ["true"], [1], [null], [undefined]])(
    "is never signed in to with an address whose email_verified is %j",
    async (email_verified) => {
      const [ada, mallory] = [new User(), new User()];
      await ada.register();
      mallory.setProfile({ email: ada.email, email_verified });
      await expectRefused(mallory, await mallory.continueWithOidc(), "unverified");
    },
  );

  it("is not created with an unverified address, which would keep the owner of the address out", async () => {
    const [ada, mallory] = [new User(), new User()];
    mallory.setProfile({ email: ada.email, email_verified: false });
    await expectRefused(mallory, await mallory.continueWithOidc(), "unverified");
    expect(await ada.register()).toMatchObject({ body: { result: true } });
  });

  it.each(["ada\u212A@example.com", "no address", "", "a@b\nBcc: c@d", `${"a".repeat(250)}@example.com`])(
    "is neither found nor created with %j",
    async (email) => {
      const user = new User();
      await new User().call("register", { email: "adak@example.com", name: "Ada", password: PASSWORD });
      user.setProfile({ email });
      await expectRefused(user, await user.continueWithOidc(), "unverified");
    },
  );

  it("that somebody has registered with the address of another person belongs to that person afterwards", async () => {
    const [ada, mallory] = [new User(), new User()];
    expect(await mallory.call("register", { email: ada.email, name: "Mallory", password: PASSWORD })).toMatchObject({
      body: { result: true },
    });
    await mallory.call("set_up_codes", {});
    await changeDatabase(ada.email, SWITCH_CODES_ON, ADD_PASSKEY);
    expect((await mallory.get("/account")).text).toMatch(/Passkeys<\/a> ?<span class="hint">1</);
    expect(await mallory.signedInAs()).toBe(ada.email);

    expect(await ada.continueWithOidc()).toMatchObject({ location: "/account" }); // without the code of the other person
    expect(await ada.signedInAs()).toBe(ada.email);
    expect((await ada.get("/account")).text).toMatch(/Passkeys<\/a> ?<span class="hint">None</);
    expect(await mallory.signedInAs()).toBeNull();
    expect(await mallory.call("login", { email: ada.email, password: PASSWORD })).toMatchObject({
      body: { result: false },
    });
  });

  it("is not signed in to by another user of the provider who has got its address later", async () => {
    const [ada, successor] = [new User(), new User()];
    await ada.continueWithOidc();
    successor.setProfile({ email: ada.email });
    await expectRefused(successor, await successor.continueWithOidc(), "linked");
  });

  it("is created once by two concurrent callbacks of one user, of which one may have to be tried again", async () => {
    const ada = new User();
    const other = visitApplication();
    const first = await ada.callbackOf(await ada.start("oidc"));
    const { location } = await other.get("/sign-in/oidc");
    const second = new URL(await provider.signIn(location ?? "", ada.login));
    const responses = await Promise.all([ada.get(first), other.get(second.pathname + second.search)]);
    expect(responses.map((each) => each.location)).toContain("/account");
    await ada.call("logout", {});
    await ada.continueWithOidc();
    expect(await ada.signedInAs()).toBe(ada.email);
    expect(await ada.call("login", { email: ada.email, password: PASSWORD })).toMatchObject({
      body: { result: false },
    });
  });
});

describe("a provider that fails", () => {
  let hanging: Server;
  let other: RunningServer;

  beforeAll(async () => {
    hanging = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(hanging, "listening");
    const { port } = hanging.address() as AddressInfo; // a TCP server has a port
    other = await startAccounts(copy, {
      ...env,
      PORT: "0",
      OIDC_ISSUER: `http://127.0.0.1:${port}`,
      GITHUB_URL: `http://127.0.0.1:${await freePort()}`,
      WEB_COOKIE_SECURE: "1",
    });
  });

  afterAll(async () => {
    await other?.stop();
    hanging?.closeAllConnections();
    hanging?.close();
  });

  it("by not responding signs nobody in, within seconds, and is tried again", async () => {
    const ada = new User(other.address);
    const before = Date.now();
    expect(await ada.get("/sign-in/oidc")).toMatchObject({ status: 303, location: `${FAILED}unreachable` });
    expect(Date.now() - before).toBeGreaterThan(4_000); // the limit, and not an error of another kind
    expect(other.output()).toContain("The sign-in with oidc failed: ClientError, OAUTH_TIMEOUT");
    expect((await ada.get(`${FAILED}unreachable`)).text).toContain("does not respond as it should");
    expect((await ada.get("/")).status).toBe(200);
  });

  it("by refusing connections signs nobody in, and the log has the reason without code and secret", async () => {
    const ada = new User(other.address);
    const url = await ada.start("github");
    const query = new URLSearchParams({ code: "the-code", state: url.searchParams.get("state") ?? "" });
    const response = await ada.get(`/sign-in/github/callback?${query}`);
    expect(response.location).toBe(`${FAILED}unreachable`);
    expect(other.output()).toMatch(/The sign-in with github failed: .*ECONNREFUSED/);
    for (const text of ["the-code", github.client.secret]) expect(other.output()).not.toContain(text);
  });

  it("cannot be confused by a sibling domain: with HTTPS, the cookie has the prefix that only this host can set", async () => {
    const { headers } = await fetch(`${other.address}/sign-in/github`, { redirect: "manual" });
    expect(headers.getSetCookie()[0]).toMatch(/^__Host-accounts_provider=[^;]+;.* Path=\/;.*Secure/i);
  });
});

describe("without its variables", () => {
  it("no provider is offered, and a part of the variables is an error at the start", async () => {
    const names = Object.keys(env).filter((name) => /^(OIDC|GITHUB)_/.test(name));
    const unset = { ...env, PORT: "0", ...Object.fromEntries(names.map((name) => [name, ""])) };
    const plain = await startAccounts(copy, unset);
    const ada = new User(plain.address);
    expect((await ada.get("/")).text).not.toMatch(/Continue with|\/sign-in\//);
    expect(await ada.get("/sign-in/oidc")).toMatchObject({ status: 404 });
    await plain.stop();
    await expect(startAccounts(copy, { ...unset, OIDC_ISSUER: "https://issuer.example" })).rejects.toThrow(
      "OIDC_CLIENT_ID and OIDC_CLIENT_SECRET is not set. Set all of OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, or none.",
    );
  });
});

/** Switches the codes of an account on, as after a correct code of its app. */
const SWITCH_CODES_ON = 'await (await import("./src/codes/store.server.ts")).activate(email);';

const ADD_PASSKEY = `
  const { add } = await import("./src/passkeys/store.server.ts");
  await add({ id: "id of " + email, email, handle: "x", point: new Uint8Array(65), signCount: 0, backedUp: false });`;

/** Runs code that changes the account of an address in the database. */
async function changeDatabase(email: string, ...code: string[]): Promise<void> {
  const script = [`const email = ${JSON.stringify(email)};`, ...code, CLOSE_DATABASE].join("\n");
  const url = { ACCOUNTS_DATABASE_URL: `file:${join(copy.dir, "users.db")}` };
  await runScript(copy.dir, ["--input-type=module", "-e", script], url);
}

const CLOSE_DATABASE = 'await (await import("./src/shared/database.server.ts")).close();';
