/**
 * "Continue with …" of the accounts example, built, against a certified OpenID Connect provider and a server that does what
 * GitHub does, and attacks on it.
 */
import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { AccountsUser } from "#test/accounts-user";
import type { ExampleCopy } from "#test/copy-example";
import { freePort } from "#test/free-port";
import { type GitHubServer, startGitHub } from "#test/github-server";
import { type RunningProvider, startIdentityProvider } from "#test/identity-provider";
import { type RunningServer, runScript } from "#test/run-tsweb";
import { issue_magic_token } from "../../src/auth/index.ts";
import { copyAccounts, serveAccounts } from "../browser/accounts-app.ts";

const SECRET = randomBytes(32).toString("hex");
const PASSWORD = "analytical engine";
const COOKIE = "accounts_provider";
const FAILED = "/sign-in/failed?reason=";

let copy: ExampleCopy;
let app: RunningServer;
let provider: RunningProvider;
let github: GitHubServer;
let env: Record<string, string>;
let numUsers = 0;

beforeAll(async () => {
  copy = copyAccounts();
  const PORT = String(await freePort());
  const callback = (id: string) => `http://localhost:${PORT}/sign-in/${id}/callback`;
  provider = await startIdentityProvider({ redirect: callback("oidc") });
  github = await startGitHub(callback("github"));
  env = {
    PORT,
    WEB_AUTH_SECRET: SECRET,
    WEB_TRUST_PROXY: "1",
    WEB_DATA_DIR: join(copy.dir, "data"),
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.client.id,
    OIDC_CLIENT_SECRET: provider.client.secret,
    OIDC_NAME: "Example",
    GITHUB_CLIENT_ID: github.client.id,
    GITHUB_CLIENT_SECRET: github.client.secret,
    GITHUB_URL: github.address,
    GITHUB_API_URL: `${github.address}/api`,
  };
  app = await serveAccounts(copy, env);
});

afterAll(async () => {
  await app?.stop();
  await Promise.all([provider?.close(), github?.close()]);
  copy?.remove();
});

/** A user of the application and of both providers. */
class User extends AccountsUser {
  readonly login: string;

  constructor(address = app.address) {
    super(address, ++numUsers);
    this.login = `user-${numUsers}`;
    this.setProfile({});
  }

  /** Sets what the OpenID Connect provider says about the user. By default, it has verified the user's address. */
  setProfile(claims: object): void {
    provider.profiles.set(this.login, { name: "Ada Lovelace", email: this.email, email_verified: true, ...claims });
  }

  /** Opens the link to a provider. Returns the URL of the provider's sign-in page. */
  async start(id: string, query = ""): Promise<URL> {
    const { status, location } = await this.get(`/sign-in/${id}${query}`);
    expect([status, location]).toEqual([303, expect.any(String)]);
    return new URL(location ?? "", "http://app.invalid");
  }

  /** Signs in at the OpenID Connect provider. Returns the path of the callback, which is not opened yet. */
  async callbackOf(authorizationUrl: URL): Promise<string> {
    const { pathname, search } = new URL(await provider.signIn(authorizationUrl.href, this.login));
    return pathname + search;
  }

  /** Continues with the OpenID Connect provider. Returns the response to the callback. */
  async continueWithOidc(query = "") {
    return this.get(await this.callbackOf(await this.start("oidc", query)));
  }

  /** Continues with the server that does what GitHub does. */
  async continueWithGitHub(change: (callback: URL) => void = () => undefined) {
    const { status, headers } = await fetch(await this.start("github"), { redirect: "manual" });
    expect(status).toBe(302);
    const callback = new URL(headers.get("location") ?? "");
    change(callback);
    return this.get(callback.pathname + callback.search);
  }

  register(password = PASSWORD) {
    return this.call("register", { email: this.email, name: "Ada", password });
  }

  /** Returns the address of the signed-in user, `null` if the user is signed out. */
  async signedInAs(): Promise<string | null> {
    const { status, text } = await this.get("/account");
    return status === 200 ? (/<dd>([^<]+@[^<]+)<\/dd>/.exec(text)?.[1] ?? "no address") : null;
  }

  /** Opens the link that confirms the address, and presses its button. */
  async confirmAddress(): Promise<void> {
    expect(await this.call("send_confirmation", {})).toMatchObject({ status: 200 });
    const mail = new RegExp(`Mail to ${this.email}: Confirm your address\n\n.*\n\\S+token=(\\S+)`);
    await expect.poll(() => app.output()).toMatch(mail);
    const [, token] = mail.exec(app.output()) ?? [];
    expect(await this.call("confirm_address", { token })).toMatchObject({ status: 200 });
  }
}

/** Expects that a callback has failed, and has signed nobody in. */
async function expectRefused(user: User, { location }: { location: string | null }, reason: string): Promise<void> {
  expect(location).toBe(FAILED + reason);
  expect(await user.signedInAs()).toBeNull();
  const { status, text } = await user.get(FAILED + reason);
  expect([status, text]).toEqual([200, expect.stringContaining("You are not signed in")]);
}

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
    const other = new AccountsUser(app.address, ++numUsers);
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

describe("a callback", () => {
  it("is refused in a browser that has not started the sign-in (login CSRF)", async () => {
    const [mallory, ada] = [new User(), new User()];
    const callback = await mallory.callbackOf(await mallory.start("oidc"));
    await expectRefused(ada, await ada.get(callback), "expired"); // without a cookie
    await ada.start("oidc");
    await expectRefused(ada, await ada.get(callback), "expired"); // with the state of another sign-in
  });

  it("of another site does not end the sign-in that the user has started", async () => {
    const [mallory, ada] = [new User(), new User()];
    const callback = await ada.callbackOf(await ada.start("oidc"));
    await ada.get(await mallory.callbackOf(await mallory.start("oidc")));
    expect(await ada.get(callback)).toMatchObject({ location: "/account" });
  });

  it("is refused when it is used again, also with the cookie of before", async () => {
    const ada = new User();
    const callback = await ada.callbackOf(await ada.start("oidc"));
    const cookie = ada.cookies.get(COOKIE) ?? "";
    expect(await ada.get(callback)).toMatchObject({ location: "/account" });
    ada.cookies.clear();
    await expectRefused(ada, await ada.get(callback), "expired");
    ada.cookies.set(COOKIE, cookie);
    await expectRefused(ada, await ada.get(callback), "expired");
  });

  it("signs in once if it is opened several times at once", async () => {
    const ada = new User();
    const callback = await ada.callbackOf(await ada.start("oidc"));
    const cookie = `${COOKIE}=${ada.cookies.get(COOKIE)}`;
    const open = () => fetch(app.address + callback, { redirect: "manual", headers: { ...ada.headers, cookie } });
    const responses = await Promise.all(Array.from({ length: 5 }, open));
    const locations = responses.map(({ headers }) => headers.get("location")).sort();
    expect(locations).toEqual(["/account", ...Array(4).fill(`${FAILED}expired`)]);
  });

  it.each([
    ["without a nonce", (url: URL) => url.searchParams.delete("nonce")],
    ["with another nonce", (url: URL) => url.searchParams.set("nonce", "A".repeat(43))],
    ["with another challenge", (url: URL) => url.searchParams.set("code_challenge", "A".repeat(43))],
  ])("is refused if the sign-in at the provider was made %s", async (_, change) => {
    const ada = new User();
    const url = await ada.start("oidc");
    change(url);
    await expectRefused(ada, await ada.get(await ada.callbackOf(url)), "unreachable");
  });

  it("is refused with the code of another user, which was injected into it", async () => {
    const [ada, mallory] = [new User(), new User()];
    const stolen = new URL(await ada.callbackOf(await ada.start("oidc")), app.address).searchParams.get("code") ?? "";
    const callback = new URL(await mallory.callbackOf(await mallory.start("oidc")), app.address);
    callback.searchParams.set("code", stolen);
    await expectRefused(mallory, await mallory.get(callback.pathname + callback.search), "unreachable");
  });

  it("is refused at another provider than the one that the sign-in was started with (mix-up)", async () => {
    const ada = new User();
    const callback = await ada.callbackOf(await ada.start("oidc"));
    await expectRefused(ada, await ada.get(callback.replace("/oidc/", "/github/")), "expired");
    const other = new URL(callback, app.address);
    other.searchParams.set("iss", "https://evil.example");
    await expectRefused(ada, await ada.get(other.pathname + other.search), "unreachable");
  });

  it.each(["access_denied", "server_error", "<script>"])(
    "with the error %s of the provider signs nobody in, and shows nothing of it",
    async (error) => {
      const ada = new User();
      const state = (await ada.start("oidc")).searchParams.get("state") ?? "";
      const query = new URLSearchParams({ error, error_description: "line\nbreak", state, iss: provider.issuer });
      const response = await ada.get(`/sign-in/oidc/callback?${query}`);
      await expectRefused(ada, response, error === "access_denied" ? "denied" : "unreachable");
      for (const text of ["line\nbreak", "<script>"]) expect(app.output()).not.toContain(text);
      if (error === "server_error") {
        expect(app.output()).toMatch(/The sign-in with oidc failed: AuthorizationResponseError, \w+, server_error\n/);
      }
    },
  );

  it("with an error is believed only with the state of the browser", async () => {
    const ada = new User();
    const callback = await ada.callbackOf(await ada.start("oidc"));
    await expectRefused(ada, await ada.get("/sign-in/oidc/callback?error=access_denied&state=x"), "expired");
    expect(await ada.get(callback)).toMatchObject({ location: "/account" });
  });

  it.each(["", "?state=", "?code=x", "?state=x&code=x&iss=x"])(
    "without a started sign-in is refused: %s",
    async (query) => {
      const ada = new User();
      await expectRefused(ada, await ada.get(`/sign-in/oidc/callback${query}`), "expired");
    },
  );

  it("is refused with a cookie that was forged, changed, has expired, or is for another purpose", async () => {
    vi.stubEnv("WEB_REALM", "accounts"); // of the built application
    const ada = new User();
    const callback = await ada.callbackOf(await ada.start("oidc"));
    const cookie = ada.cookies.get(COOKIE) ?? "";
    const state = new URL(callback, app.address).searchParams.get("state") ?? "";
    const fields = `oidc ${state} ${"n".repeat(43)} ${"v".repeat(43)} `;
    for (const value of [
      "x",
      `${cookie}x`,
      cookie.replace(/.$/, (last) => (last === "A" ? "B" : "A")),
      issue_magic_token(SECRET, `sign-in ${fields}`, { ttl: 60 }),
      issue_magic_token(SECRET, `provider ${fields}`, { ttl: 0 }),
      issue_magic_token("f".repeat(64), `provider ${fields}`, { ttl: 60 }),
    ]) {
      ada.cookies.set(COOKIE, value);
      await expectRefused(ada, await ada.get(callback), "expired");
    }
    vi.unstubAllEnvs();
    ada.cookies.set(COOKIE, cookie);
    expect(await ada.get(callback)).toMatchObject({ location: "/account" });
  });
});

describe("the start of a sign-in", () => {
  it.each(["cross-site", "same-site"])("by a %s page leads to the sign-in page", async (site) => {
    const ada = new User();
    expect(await ada.get("/sign-in/oidc", { "sec-fetch-site": site })).toMatchObject({ status: 303, location: "/" });
    expect(ada.cookies.size).toBe(0);
    const own = await ada.get("/sign-in/oidc", { "sec-fetch-site": "same-origin" });
    expect(own.location).toContain(provider.issuer);
  });

  it("by a signed-in user leads to the account", async () => {
    const ada = new User();
    await ada.register();
    expect(await ada.get("/sign-in/oidc")).toMatchObject({ location: "/account" });
  });

  it.each(["/sign-in/other", "/sign-in/other/callback", "/sign-in/__proto__", "/sign-in/constructor/callback"])(
    "with an unknown provider is not found: %s",
    async (path) => {
      expect(await new User().get(path)).toMatchObject({ status: 404 });
    },
  );
});

describe("a provider that fails", () => {
  let hanging: Server;
  let other: RunningServer;

  beforeAll(async () => {
    hanging = createServer(() => undefined).listen(0, "127.0.0.1");
    await expect.poll(() => hanging.listening).toBe(true);
    const { port } = hanging.address() as AddressInfo; // a TCP server has a port
    other = await serveAccounts(copy, {
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
    const plain = await serveAccounts(copy, unset);
    const ada = new User(plain.address);
    expect((await ada.get("/")).text).not.toMatch(/Continue with|\/sign-in\//);
    expect(await ada.get("/sign-in/oidc")).toMatchObject({ status: 404 });
    await plain.stop();
    await expect(serveAccounts(copy, { ...unset, OIDC_ISSUER: "https://issuer.example" })).rejects.toThrow(
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
