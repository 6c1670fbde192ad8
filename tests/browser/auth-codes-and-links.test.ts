/**
 * One-time codes, sign-in links and limits of attempts in the accounts example, built, in Chromium.
 */
import { randomBytes } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { AccountsUser } from "#test/accounts-user";
import { issue_magic_token, totp } from "../../src/auth/index.ts";
import {
  ada,
  expectAlert,
  expectError,
  fill,
  findAccessibilityProblems,
  signIn,
  signUp,
  submit,
  tabTo,
} from "./accounts-actions.ts";
import { AccountsApp, SCRIPTING } from "./accounts-app.ts";
import { Authenticator, addPasskey, forgetSession, usePasskey } from "./passkey-actions.ts";

const SECRET = randomBytes(32).toString("hex");
const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Returns an address for one of {@link SCRIPTING}. */
function addressOf(name: string, { javaScriptEnabled }: { readonly javaScriptEnabled: boolean }): string {
  return `${name}-${javaScriptEnabled ? "on" : "off"}@example.com`;
}

/** Decodes a base32 secret, as an authenticator app does. */
function decodeBase32(text: string): Uint8Array {
  const bits = [...text].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0")).join("");
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}

/** Returns the codes that are valid now: of the previous, the current and the next step. Each can be used once. */
function codesOf(secret: Uint8Array): [string, string, string] {
  const now = Date.now() / 1000;
  return [totp(secret, { at: now - 30 }), totp(secret, { at: now }), totp(secret, { at: now + 30 })];
}

describe("the accounts example, built", () => {
  let app: AccountsApp;

  beforeAll(async () => {
    app = await AccountsApp.open({ WEB_AUTH_SECRET: SECRET, WEB_TRUST_PROXY: "1" });
  });

  afterEach(async () => {
    expect(await app.clear()).toEqual([]);
  });

  afterAll(() => app?.close());

  let calls = 0;
  /** Calls a server function without a browser, each time from another address, to avoid the rate limit per client. */
  async function call(name: string, args: object, cookie = "") {
    calls++;
    const address = `203.0.113.${calls % 256}`;
    const response = await fetch(`${app.address}/__web/rpc/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": address, cookie },
      body: JSON.stringify({ args }),
    });
    const cookies = response.headers.getSetCookie().map((line) => line.split(";", 1)[0]);
    const location = response.headers.get("x-redirect");
    return { status: response.status, location, body: await response.json(), cookie: cookies.join("; ") };
  }

  /** Returns the code of the previous step, so that the others are left: it is accepted until the current step ends. */
  async function previousCode(secret: Uint8Array): Promise<string> {
    await expect.poll(() => (Date.now() / 1000) % 30).toBeLessThan(20);
    return codesOf(secret)[0];
  }

  let users = 0;
  /** Returns a new, signed-in user who needs codes, and the secret. */
  async function registerWithCodes(): Promise<{ user: AccountsUser; secret: Uint8Array }> {
    const user = new AccountsUser(app.address, ++users);
    for (const [name, args] of [
      ["register", { ...ada, email: user.email }],
      ["set_up_codes", {}],
    ] as const) {
      expect(await user.call(name, args)).toMatchObject({ status: 200 });
    }
    const [, shown = ""] = /<code class="secret">([^<]+)/.exec((await user.get("/account/codes")).text) ?? [];
    const secret = decodeBase32(shown.replaceAll(" ", ""));
    expect(await user.call("switch_codes_on", { code: await previousCode(secret) })).toMatchObject({ status: 200 });
    return { user, secret };
  }

  /** Returns the links in the log for an address. */
  const linksTo = (email: string) =>
    [...app.output().matchAll(/Mail to (\S+): Sign in\n\n.*\n(http\S+)/g)].flatMap(([, to, link]) =>
      to === email ? [link ?? ""] : [],
    );

  async function requestLink(page: Page, email: string): Promise<string> {
    const before = linksTo(email).length;
    await page.goto("/");
    await page.getByRole("link", { name: "Email me a link" }).click();
    await fill(page, { email });
    await submit(page, "Send me a link");
    await page.waitForURL("**/link/sent");
    await expect.poll(() => linksTo(email).length).toBe(before + 1);
    return linksTo(email).at(-1) ?? "";
  }

  /** Signs a user in again with the password alone, in a browser that has forgotten the session. */
  async function signInAgain(page: Page, email: string): Promise<void> {
    await forgetSession(page);
    await page.goto("/");
    await signIn(page, email);
  }

  describe("one-time codes", () => {
    it.each(SCRIPTING)("are required at sign-in after the setup was confirmed with a code, %s", async (_, options) => {
      const email = addressOf("codes", options);
      const page = await app.users.reusePage(options);
      await signUp(page, email);
      await page.goto("/account");
      await page.getByRole("link", { name: "One-time codes" }).click();
      await submit(page, "Set up one-time codes");
      const shown = (await page.locator("code.secret").textContent())?.replaceAll(" ", "") ?? "";
      expect(shown).toMatch(/^[A-Z2-7]{32}$/);
      const link = await page.getByRole("link", { name: "authenticator app" }).getAttribute("href");
      expect(link).toBe(`otpauth://totp/${encodeURIComponent(`Accounts:${email}`)}?secret=${shown}&issuer=Accounts`);

      await fill(page, { code: "000000" });
      const [before, now, after] = codesOf(decodeBase32(shown));
      if ([before, now, after].includes("000000"))
        throw new Error("The valid code is 000000 by chance. Run the test again.");
      await submit(page, "Switch on");
      await expectError(page, "code", "That code is wrong, or was used.");
      await signInAgain(page, email);

      await page.goto("/account/codes");
      await submit(page, "Create another secret");
      const other = page.locator("code.secret").filter({ hasNotText: shown.slice(0, 4) });
      const secret = decodeBase32((await other.textContent())?.replaceAll(" ", "") ?? "");
      const used = await previousCode(secret);
      await fill(page, { code: used });
      await submit(page, "Switch on");
      await page.locator(".badge", { hasText: "On" }).waitFor();
      await forgetSession(page);
      await page.goto("/");
      await fill(page, { email: email, password: ada.password });
      await submit(page, "Sign in");
      await page.waitForURL("**/code");
      await fill(page, { code: used });
      await submit(page, "Sign in");
      await expectError(page, "code", "That code is wrong, or was used.");
      const next = codesOf(secret)[1];
      await fill(page, { code: next.replace(/^.../, "$& ") });
      await submit(page, "Sign in");
      await page.waitForURL("**/account");
      expect(await page.locator("dd").allTextContents()).toEqual([ada.name, email]);

      await page.goto("/account/codes");
      await fill(page, { code: next });
      await submit(page, "Switch off");
      await expectError(page, "code", "That code is wrong, or was used.");
      await fill(page, { code: codesOf(secret)[2] });
      await submit(page, "Switch off");
      await page.getByRole("button", { name: "Set up one-time codes" }).waitFor();
      await signInAgain(page, email);
    });

    it("are accepted only after the password, which alone creates no session", async () => {
      const { user, secret } = await registerWithCodes();
      const { email } = user;
      const passwordOnly = await call("login", { email, password: ada.password });
      expect(passwordOnly).toMatchObject({ status: 200, location: "/code" });
      expect(passwordOnly.cookie).not.toContain("web_session");
      expect(passwordOnly.cookie).toMatch(/^accounts_code=[\w-]{43}$/);
      expect(await call("set_up_codes", {}, passwordOnly.cookie)).toMatchObject({ status: 401 });

      const [, code] = codesOf(secret);
      const signInExpired = { status: 401, body: { error: { code: "unauthenticated" } } };
      for (const cookie of [
        "",
        "accounts_code=",
        `accounts_code=${"A".repeat(43)}`,
        passwordOnly.cookie.replace("code", "passkey-use"),
      ]) {
        expect(await call("enter_code", { code }, cookie)).toMatchObject(signInExpired);
      }
      expect(await call("login", { email, password: "wrong" })).toMatchObject({ body: { result: false }, cookie: "" });
      const complete = await call("enter_code", { code }, passwordOnly.cookie);
      expect(complete).toMatchObject({ status: 200, body: { result: true } });
      expect(complete.cookie).toMatch(/web_session(?:_accounts)?=/);
      expect(await call("enter_code", { code }, passwordOnly.cookie)).toMatchObject(signInExpired);
    });

    it("are required after a link, and not after a passkey", async () => {
      const { user, secret } = await registerWithCodes();
      const page = await app.users.reusePage();
      await Authenticator.addTo(page);
      await page.context().addCookies(user.browserCookies());
      await addPasskey(page);
      await forgetSession(page);
      await page.goto(await requestLink(page, user.email));
      await submit(page, "Sign in");
      await page.waitForURL("**/code");
      await fill(page, { code: codesOf(secret)[1] });
      await submit(page, "Sign in");
      await page.waitForURL("**/account");
      await forgetSession(page);
      await usePasskey(page);
      await page.waitForURL("**/account");
    });

    it("are all rejected after ten wrong codes in five minutes, also the correct one", async () => {
      const { user, secret } = await registerWithCodes();
      const { email } = user;
      const wrongCode = (n: number) => String((Number(codesOf(secret)[1]) + 1000 + n) % 1_000_000).padStart(6, "0");
      for (let n = 0; n < 10; n++) {
        // A new sign-in does not reset the count.
        const { cookie } = await call("login", { email, password: ada.password });
        expect(await call("enter_code", { code: wrongCode(n) }, cookie)).toMatchObject({ status: 422 });
      }
      const { cookie } = await call("login", { email, password: ada.password });
      const limitedResponse = await call("enter_code", { code: codesOf(secret)[1] }, cookie);
      expect(limitedResponse).toMatchObject({ status: 429, body: { error: { code: "rate_limited" } } });
    });
  });

  describe("sign-in links", () => {
    it.each(SCRIPTING)("are in the log, and can be used once, by a button on their page, %s", async (_, options) => {
      const email = addressOf("linked", options);
      const page = await app.users.reusePage(options);
      await call("register", { ...ada, email });
      const link = await requestLink(page, email);
      expect(link).toMatch(new RegExp(`^${app.address}/link/open\\?token=[\\w.-]+$`));

      // A mail scanner may open the link and run the scripts of its page. The link must remain valid.
      const scanner = await app.users.reusePage(options);
      await scanner.goto(link, { waitUntil: "networkidle" });
      await page.goto(link);
      await submit(page, "Sign in");
      await page.waitForURL("**/account");
      expect(await page.locator("dd").allTextContents()).toEqual([ada.name, email]);

      await submit(scanner, "Sign in");
      await expectAlert(scanner, "This link has expired, or was used before.");
      await scanner.goto("/account");
      expect(new URL(scanner.url()).pathname).toBe("/");
    });

    it("are sent to registered addresses only, which the response does not reveal", async () => {
      await call("register", { ...ada, email: "sent@example.com" });
      const page = await app.users.reusePage();
      await page.goto("/link");
      await fill(page, { email: "nobody@example.com" });
      await submit(page, "Send me a link");
      await page.waitForURL("**/link/sent");
      expect(app.output()).not.toContain("Mail to nobody@example.com");
      const [known, unknown] = [
        await call("send_link", { email: "sent@example.com" }),
        await call("send_link", { email: "x@y" }),
      ];
      expect(unknown).toEqual(known);
    });

    it("are rejected with a forged, expired, used or other token", async () => {
      vi.stubEnv("WEB_REALM", "accounts"); // of the built application
      onTestFinished(() => void vi.unstubAllEnvs());
      const email = "tokens@example.com";
      await call("register", { ...ada, email });
      const validToken = (subject: string, ttl: number, secret = SECRET) => issue_magic_token(secret, subject, { ttl });
      const rejected = {
        status: 401,
        body: { error: { message: expect.stringContaining("expired, or was used") } },
        cookie: "",
      };
      for (const token of [
        "",
        "x",
        validToken(email, 60),
        validToken(`confirm ${email}`, 60),
        validToken(`sign-in ${email}`, 0),
        validToken("sign-in nobody@example.com", 60),
        validToken(`sign-in ${email}`, 60, randomBytes(32).toString("hex")),
        `${validToken(`sign-in ${email}`, 60)}x`,
      ]) {
        expect(await call("open_link", { token })).toMatchObject(rejected);
      }
      vi.stubEnv("WEB_REALM", "board");
      expect(await call("open_link", { token: validToken(`sign-in ${email}`, 60) })).toMatchObject(rejected);
      vi.stubEnv("WEB_REALM", "accounts");
      const token = validToken(`sign-in ${email}`, 60);
      const responses = await Promise.all(Array.from({ length: 5 }, () => call("open_link", { token })));
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
    });

    it("are sent to one address at most ten times in five minutes", async () => {
      const email = "flooded@example.com";
      await call("register", { ...ada, email });
      for (let n = 0; n < 10; n++) expect(await call("send_link", { email })).toMatchObject({ status: 200 });
      const limited = { status: 429, body: { error: { code: "rate_limited" } } };
      expect(await call("send_link", { email: ` ${email.toUpperCase()} ` })).toMatchObject(limited);
      expect(linksTo(email)).toHaveLength(10);
    });
  });

  describe("attempts to sign in with a password", () => {
    it("are limited to ten wrong passwords per account, from all clients together", async () => {
      for (const email of ["tried@example.com", "not-registered@example.com"]) {
        if (email.startsWith("tried")) await call("register", { ...ada, email });
        for (let n = 0; n < 10; n++) {
          expect(await call("login", { email, password: `guess ${n}` })).toMatchObject({ body: { result: false } });
        }
        const limited = { status: 429, body: { error: { code: "rate_limited" } } };
        expect(await call("login", { email, password: ada.password })).toMatchObject(limited);
        expect(await call("login", { email: ` ${email.toUpperCase()}`, password: ada.password })).toMatchObject(
          limited,
        );
      }
      expect(await call("login", { email: "other@example.com", password: "x" })).toMatchObject({
        body: { result: false },
      });

      const page = await app.users.reusePage();
      await page.goto("/");
      await fill(page, { email: "tried@example.com", password: ada.password });
      await submit(page, "Sign in");
      await expectAlert(page, "Too many attempts. Wait five minutes, and try again.");
    });

    it("are counted if they are concurrent, and no longer after a correct password", async () => {
      const email = "together@example.com";
      await call("register", { ...ada, email });
      for (let n = 0; n < 9; n++) await call("login", { email, password: "wrong" });
      expect(await call("login", { email, password: ada.password })).toMatchObject({ body: { result: true } });
      const responses = await Promise.all(
        Array.from({ length: 15 }, () => call("login", { email, password: "wrong" })),
      );
      expect(responses.filter(({ body }) => body.result === false)).toHaveLength(10);
      expect(responses.filter(({ status }) => status === 429)).toHaveLength(5);
    });
  });

  it("has pages for codes and links without accessibility problems, which fit on a small screen", async () => {
    const page = await app.users.reusePage({ viewport: { width: 320, height: 640 } });
    const check = async (path: string) => {
      await page.goto(path);
      expect(await page.evaluate(findAccessibilityProblems), path).toEqual([]);
    };
    await check("/link");
    await check("/link/sent");
    await check("/link/open");
    await signUp(page, "flawless@example.com");
    await check("/account/codes");
    await tabTo(page, "button");
    await page.keyboard.press("Enter");
    await page.locator("code.secret").waitFor();
    const shown = (await page.locator("code.secret").textContent()) ?? "";
    expect(await page.evaluate(findAccessibilityProblems)).toEqual([]);
    await tabTo(page, "#code");
    await page.keyboard.type(codesOf(decodeBase32(shown.replaceAll(" ", "")))[1]);
    await page.keyboard.press("Enter");
    await page.locator(".badge", { hasText: "On" }).waitFor();
    expect(await page.evaluate(findAccessibilityProblems)).toEqual([]);
    await forgetSession(page);
    await page.goto("/");
    await fill(page, { email: "flawless@example.com", password: ada.password });
    await submit(page, "Sign in");
    await page.waitForURL("**/code");
    expect(await page.evaluate(findAccessibilityProblems)).toEqual([]);
  });
});
