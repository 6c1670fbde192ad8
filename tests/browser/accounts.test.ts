/**
 * The reference application in a real browser: one suite against the built server, and in `npm run matrix -- browser` also in
 * development.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import type { ExampleCopy } from "#test/copy-example";
import { fasterHashing } from "#test/faster-hashing";
import { IS_MATRIX } from "#test/matrix";
import { textOfBuild, textOfPages } from "#test/received-text";
import { type Environment, type RunningServer, runScript, startBuilt, startDev } from "#test/run-tsweb";
import { buildOnce } from "#test/shared-builds";
import {
  ada,
  expectError,
  fill,
  findAccessibilityProblems,
  scriptsOf,
  signIn,
  signUp,
  submit,
  tabTo,
} from "./accounts-actions.ts";
import { copyAccounts, SCRIPTING } from "./accounts-app.ts";
import { launch } from "./chromium.ts";

/** Texts of the server modules, which no browser may receive: a message, an SQL statement, a name and comments. */
const SERVER_TEXTS = [
  ["accounts.server.ts", "An email address has at most"],
  ["accounts.server.ts", "Without a user, this takes as long as with one"],
  ["accounts.server.ts", "verify_password"],
  ["users.server.ts", "CREATE TABLE"],
  ["shared/database.server.ts", "ACCOUNTS_DATABASE_URL"],
] as const;

/** What Chromium prints with scripting off for a page with parts: a refresh that it does not follow, docs/protocol.md 11.9. */
const REFRESH = "console: Not allowed to navigate top frame to data URL: data:,";

describe.each(IS_MATRIX ? (["dev", "built"] as const) : (["built"] as const))("the accounts example, %s", (mode) => {
  let copy: ExampleCopy;
  let env: Environment;
  let running: RunningServer;
  let browser: Browser;
  let users: BrowserUsers;

  beforeAll(async () => {
    copy = copyAccounts();
    env = {
      ACCOUNTS_DATABASE_URL: `file:${join(copy.dir, "users.db")}`,
      WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
      WEB_TRUST_PROXY: "1",
      ...fasterHashing(),
    };
    if (mode === "built") await buildOnce(copy.dir, "accounts");
    running = await (mode === "built" ? startBuilt : startDev)(copy.dir, env);
    browser = await launch();
    users = new BrowserUsers(browser, { baseURL: running.address });
  });

  afterEach(async () => {
    await users.closeAll();
    expect(users.problems.splice(0)).toEqual([]);
  });

  afterAll(async () => {
    await browser?.close();
    const code = await running?.stop();
    copy?.remove();
    expect(code).toBe(0);
  });

  const call = (name: string, args: object, cookie = "") => callAt(running.address, name, args, cookie);

  const get = (path: string, cookie = "") => fetch(running.address + path, { headers: { cookie }, redirect: "manual" });

  it("sends no text of a server module to a browser [RESPONSE-5]", async () => {
    const pages = ["/", "/register", "/passkey"];
    const modules = ["accounts", "users"].flatMap((name) => {
      const path = `/src/${name}.server.ts`;
      return [
        path,
        `${path}?raw`,
        `${path}?url`,
        `${path}?import`,
        `/@fs${copy.dir}${path}`,
        `/${path}`,
        `${path}?v=1`,
      ];
    });
    const received = [
      ...(await textOfPages(await users.reusePage(), pages)),
      ...(await Promise.all(modules.map(async (name) => ({ name, text: await (await get(name)).text() })))),
      ...(mode === "built" ? textOfBuild(copy.dir) : []),
    ];
    // Proves that such a text is in the build, and that the searched text includes the scripts of views.
    if (mode === "built") expect(readFileSync(join(copy.dir, "dist/app.mjs"), "utf8")).toContain(SERVER_TEXTS[0][1]);
    expect(received.some(({ text }) => text.includes("parseRequestOptionsFromJSON"))).toBe(true);
    for (const [file, secret] of SERVER_TEXTS) {
      expect(readFileSync(join(copy.dir, "src", file), "utf8")).toContain(secret);
      expect(received.filter(({ text }) => text.includes(secret)).map(({ name }) => name)).toEqual([]);
    }
  });

  describe.each(SCRIPTING)("%s", (_, { javaScriptEnabled }) => {
    /** Returns an address that belongs to this variant. */
    const addressOf = (name: string) => `${name}-${javaScriptEnabled ? "on" : "off"}@example.com`;

    /** Opens a page of a new user. Each variant has an address, because the rate is limited for each. */
    const newPage = (options: BrowserContextOptions = {}) =>
      users.reusePage({
        javaScriptEnabled,
        extraHTTPHeaders: { "x-forwarded-for": javaScriptEnabled ? "203.0.113.1" : "203.0.113.2" },
        ...options,
      });

    it("registers an address once, signs out, and signs in with the right password only", async () => {
      const email = addressOf("ada");
      const page = await newPage();
      await page.goto("/register");
      await fill(page, { ...ada, email });
      await submit(page, "Create account");
      await page.waitForURL("**/account");
      expect(await page.title()).toBe("Your account · Accounts");
      expect(await page.locator("dd").allTextContents()).toEqual([ada.name, email]);

      await page.goto("/register");
      await fill(page, { ...ada, email: email.toUpperCase() });
      await submit(page, "Create account");
      await expectError(page, "email", "That email address is registered already.");
      expect(new URL(page.url()).pathname).toBe("/register");
      expect(await page.inputValue("#name")).toBe(ada.name);
      expect(await page.inputValue("#password")).toBe("");

      await page.goto("/account");
      await submit(page, "Sign out");
      await page.waitForURL(`${running.address}/`);
      expect(await page.title()).toBe("Sign in · Accounts");

      await fill(page, { email, password: "difference engine" });
      await submit(page, "Sign in");
      await expectError(page, "password", "Unknown email or wrong password.");
      expect(await page.inputValue("#email")).toBe(email);
      expect(await page.inputValue("#password")).toBe("");

      await signIn(page, email);
      expect(await page.locator("dd").allTextContents()).toEqual([ada.name, email]);
    });

    it("redirects signed-in users from / to /account, and others to / and back after the sign-in", async () => {
      const email = addressOf("redirected");
      await call("register", { ...ada, email });
      const page = await newPage();
      await page.goto("/account/codes");
      expect(page.url()).toBe(`${running.address}/?next=%2Faccount%2Fcodes`);
      await fill(page, { email, password: "difference engine" });
      await submit(page, "Sign in");
      await expectError(page, "password", "Unknown email or wrong password.");
      await fill(page, { password: ada.password });
      await submit(page, "Sign in");
      await page.waitForURL("**/account/codes");
      await page.goto("/");
      expect(new URL(page.url()).pathname).toBe("/account");
    });

    it("never redirects to another site after the sign-in", async () => {
      const email = addressOf("phished");
      await call("register", { ...ada, email });
      const page = await newPage();
      await page.goto("/?next=https://evil.example/");
      await signIn(page, email);
      expect(page.url()).toBe(`${running.address}/account`);
      await page.goto("/?next=//evil.example/");
      expect(page.url()).toBe(`${running.address}/account`);
    });

    it("validates the form in the browser, and focuses the first invalid field", async () => {
      const page = await newPage();
      const posts: string[] = [];
      page.on("request", (request) => request.method() === "POST" && posts.push(request.url()));
      await page.goto("/register");
      await fill(page, { name: "Ada", email: "ada", password: "" });
      await page.locator("#password").pressSequentially("short");
      await submit(page, "Create account");
      await page.locator("#email:focus:invalid").waitFor();
      await fill(page, { email: "ada@example.com" });
      await submit(page, "Create account");
      await page.locator("#password:focus:invalid").waitFor();
      expect(posts).toEqual([]);
    });

    it("shows all errors of a form that the browser has not validated", async () => {
      const page = await newPage();
      await page.goto("/register");
      await page.locator("main form").evaluate((form: HTMLFormElement) => form.setAttribute("novalidate", ""));
      await fill(page, { name: "Ada", email: "a@b@c", password: "short" });
      await submit(page, "Create account");
      await expectError(page, "email", "Enter an email address, with an @ in it.");
      await page.locator("#password-error", { hasText: "at least 8 characters" }).waitFor();
      expect(await page.locator('[aria-invalid="true"]').count()).toBe(2);
      expect(await page.evaluate(findAccessibilityProblems)).toEqual([]);
    });

    it("shows /admin to admins only, and returns its report to them, without password hashes", async () => {
      const email = addressOf("grace");
      const page = await newPage();
      await signUp(page, email);
      expect((await page.goto("/admin"))?.status()).toBe(403);
      const makeAdmin = (email: string) => runScript(copy.dir, ["scripts/make-admin.ts", email], env);
      await expect(makeAdmin("nobody@example.com")).rejects.toThrow("Nobody");
      expect(await makeAdmin(email)).toContain(`${email} is an admin`);
      await page.context().clearCookies();
      await page.goto("/");
      await signIn(page, email);
      await page.getByRole("link", { name: "Users" }).click();
      await page.getByRole("heading", { name: "Registered users" }).waitFor();
      expect(await page.locator("tbody tr", { hasText: email }).textContent()).toMatch(/Admin.*UTC/);
      await expect.poll(() => users.problems).toEqual(javaScriptEnabled ? [] : [REFRESH]); // once the page is loaded
      users.problems.splice(0);

      const admin = await call("login", { email, password: ada.password });
      const { status, body } = await call("admin_report", {}, admin.cookie);
      expect(status).toBe(200);
      expect(body.result).toContainEqual({
        email,
        name: ada.name,
        roles: ["admin"],
        registered: expect.stringMatching(/^\d{4}-.*Z$/),
      });
      expect(JSON.stringify(body)).not.toContain("pbkdf2");
      const headers = { cookie: admin.cookie, origin: running.address };
      const sent = await fetch(`${running.address}/__web/form/admin_report`, {
        method: "POST",
        headers,
        body: new FormData(),
      });
      expect([sent.status, await sent.json()]).toEqual([200, { result: body.result }]);
    });

    it("can be used with the keyboard only", async () => {
      const email = addressOf("keys");
      await call("register", { ...ada, email });
      const page = await newPage();
      await page.goto("/");
      await page.keyboard.press("Tab");
      expect(await page.locator(":focus").textContent()).toBe("Skip to content");
      await tabTo(page, "#email");
      await page.keyboard.type(email);
      await page.keyboard.press("Tab");
      await page.keyboard.type("wrong password");
      await page.keyboard.press("Enter");
      await expectError(page, "password", "Unknown email or wrong password.");
      await page.keyboard.type(ada.password);
      await page.keyboard.press("Enter");
      await page.waitForURL("**/account");
      await tabTo(page, "button");
      await page.keyboard.press("Space");
      await page.waitForURL(`${running.address}/`);
    });

    it("has no script, no accessibility problems, and fits on a small screen", async () => {
      const page = await newPage({ viewport: { width: 320, height: 640 } });
      const check = async (path: string) => {
        await page.goto(path);
        expect(await scriptsOf(page), path).toEqual([]);
        expect(await page.evaluate(findAccessibilityProblems), path).toEqual([]);
      };
      await check("/");
      await check("/register");
      await signUp(page, `a.rather.long.address.that.goes.on.${addressOf("mathematics")}`);
      await check("/account");
      await check("/account/codes");
      await check("/admin");
      await check("/nowhere");
    });
  });

  it("validates the arguments of calls that a script sends", async () => {
    const login = { email: "script@example.com", password: "long enough" };
    const registered = await call("register", { ...login, email: "  Script@Example.COM ", name: "Script" });
    const signedIn = { status: 200, body: { result: true }, location: null };
    expect(registered).toMatchObject(signedIn);
    const page = await (await get("/account", registered.cookie)).text();
    expect(page).toContain(login.email);

    expect(await call("login", login)).toMatchObject(signedIn);
    const rejected = { status: 200, body: { result: false }, cookie: "" };
    expect(await call("login", { ...login, password: "another" })).toMatchObject(rejected);
    expect(await call("login", { ...login, email: "nobody@example.com" })).toMatchObject(rejected);
    expect(await call("logout", {}, registered.cookie)).toMatchObject({ status: 200, body: { result: null } });

    const invalid = { status: 422, body: { error: { code: "validation_error" } } };
    for (const email of ["script", "@", "a@b@c", "a@b\nMail to c@d", "a@b\r\nBcc: c@d", "a@b\u001b[2J", "a b@c"]) {
      expect(await call("register", { ...login, name: "Script", email })).toMatchObject(invalid);
    }
    expect(await call("register", { ...login, name: "Script", password: "1234567" })).toMatchObject(invalid);
    expect(await call("register", { ...login, name: "n".repeat(101) })).toMatchObject(invalid);
    expect(await call("register", login)).toMatchObject(invalid);
    const taken = await call("register", { ...login, name: "Script" });
    expect(taken).toMatchObject({ status: 409, body: { error: { code: "conflict" } } });
  });

  it("registers one of two users who register an address at the same time", async () => {
    const same = { email: "race@example.com", name: "Race", password: "long enough" };
    const responses = await Promise.all([call("register", same), call("register", same)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it("responds to a call with a general error if the database is unreachable", async () => {
    const unreachable = { ...env, ACCOUNTS_DATABASE_URL: "http://127.0.0.1:1" };
    const { address, output, stop } = await (mode === "built" ? startBuilt : startDev)(copy.dir, unreachable);
    const login = callAt(address, "login", { email: ada.email, password: ada.password });
    const { status, body } = await login.finally(stop);
    expect([status, body]).toMatchObject([500, { error: { code: "internal", details: {} } }]);
    expect(body.error.message).not.toContain("fetch");
    expect(output()).toContain("The database of users failed");
  });
});

/** Calls a server function without a browser. */
async function callAt(address: string, name: string, args: object, cookie = "") {
  const response = await fetch(`${address}/__web/rpc/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", cookie },
    body: JSON.stringify({ args }),
  });
  const [setCookie = ""] = response.headers.getSetCookie();
  const location = response.headers.get("x-redirect");
  return { status: response.status, location, body: await response.json(), cookie: setCookie.split(";", 1)[0] ?? "" };
}
