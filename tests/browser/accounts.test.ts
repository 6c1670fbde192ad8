/**
 * The reference application in a real browser: one suite, in development and against the built server.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { copyExample, type ExampleCopy } from "#test/copy-example";
import { textOfBuild, textOfPages } from "#test/received-text";
import { build, type Environment, type RunningServer, runScript, startBuilt, startDev } from "#test/run-tsweb";
import {
  ada,
  expectError,
  fill,
  findAccessibilityProblems,
  register,
  signIn,
  submit,
  tabTo,
} from "./accounts-actions.ts";
import { launch } from "./chromium.ts";

/** A random text in the server modules, which no browser may receive. */
const MARKER = `marker-${randomBytes(8).toString("hex")}`;

describe.each(["dev", "built"] as const)("the accounts example, %s", { timeout: 60_000 }, (mode) => {
  let copy: ExampleCopy;
  let env: Environment;
  let running: RunningServer;
  let browser: Browser;
  let users: BrowserUsers;

  beforeAll(async () => {
    copy = copyExample("accounts", ["tsweb", "@libsql/client"]);
    plantMarker(copy.dir);
    env = {
      ACCOUNTS_DATABASE_URL: `file:${join(copy.dir, "users.db")}`,
      WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
    };
    if (mode === "built") await build(copy.dir);
    running = await (mode === "built" ? startBuilt : startDev)(copy.dir, env);
    browser = await launch({ fullBrowser: true });
    users = new BrowserUsers(browser, { baseURL: running.address });
  }, 120_000);

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

  it("registers an address once, signs out, and signs in with the right password only", async () => {
    const page = await users.newPage();
    await page.goto("/register");
    await fill(page, ada);
    await submit(page, "Create account");
    await page.waitForURL("**/account");
    expect(await page.title()).toBe("Your account · Accounts");
    expect(await page.locator("dd").allTextContents()).toEqual([ada.name, ada.email]);

    await page.goto("/register");
    await fill(page, { ...ada, email: " Ada@Example.com" });
    await submit(page, "Create account");
    await expectError(page, "email", "That email address is registered already.");
    expect(new URL(page.url()).pathname).toBe("/register");

    await page.goto("/account");
    await submit(page, "Sign out");
    await page.waitForURL(`${running.address}/`);
    expect(await page.title()).toBe("Sign in · Accounts");

    await fill(page, { email: ada.email, password: "difference engine" });
    await submit(page, "Sign in");
    await expectError(page, "password", "Unknown email or wrong password.");
    expect(await page.inputValue("#email")).toBe(ada.email);

    await signIn(page, ada.email);
    expect(await page.locator("dd").allTextContents()).toEqual([ada.name, ada.email]);
  });

  it("redirects signed-in users from / to /account, and others from /account to /", async () => {
    const page = await users.newPage();
    await page.goto("/account");
    expect(new URL(page.url()).pathname).toBe("/");
    await register(page, "redirected@example.com");
    await page.goto("/");
    expect(new URL(page.url()).pathname).toBe("/account");

    const signedOut = await get("/account");
    expect([signedOut.status, signedOut.headers.get("location")]).toEqual([303, "/"]);
  });

  it("validates the form in the browser, and focuses the first invalid field", async () => {
    const page = await users.newPage();
    const calls: string[] = [];
    page.on("request", (request) => request.method() === "POST" && calls.push(request.url()));
    await page.goto("/register");
    await fill(page, { name: "Ada", email: "ada", password: "" });
    await page.locator("#password").pressSequentially("short");
    await submit(page, "Create account");
    await page.locator("#email:focus:invalid").waitFor();
    await fill(page, { email: "ada@example.com" });
    await submit(page, "Create account");
    await page.locator("#password:focus:invalid").waitFor();
    expect(calls).toEqual([]);
  });

  it("validates the arguments of calls that a script sends", async () => {
    const login = { email: "script@example.com", password: "long enough" };
    const registered = await call("register", { ...login, email: "  Script@Example.COM ", name: "Script" });
    expect(registered).toMatchObject({ status: 200, body: { result: true } });
    const page = await (await get("/account", registered.cookie)).text();
    expect(page).toContain(login.email);

    expect(await call("login", login)).toMatchObject({ status: 200, body: { result: true } });
    const rejected = { status: 200, body: { result: false }, cookie: "" };
    expect(await call("login", { ...login, password: "another" })).toMatchObject(rejected);
    expect(await call("login", { ...login, email: "nobody@example.com" })).toMatchObject(rejected);
    expect(await call("logout", {}, registered.cookie)).toMatchObject({ status: 200, body: { result: null } });

    const invalid = { status: 422, body: { error: { code: "validation_error" } } };
    for (const email of ["script", "@", "a@b@c", "a@b\nA link for c@d", "a@b\r\nBcc: c@d", "a@b\u001b[2J", "a b@c"]) {
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

  it("shows /admin to admins only, without a script", async () => {
    const page = await users.newPage();
    expect((await page.goto("/admin"))?.status()).toBe(401);
    expect(await call("admin_report", {})).toMatchObject({ status: 401, body: { error: { code: "unauthenticated" } } });

    const email = "grace@example.com";
    await register(page, email);
    expect((await page.goto("/admin"))?.status()).toBe(403);
    const { cookie } = await call("login", { email, password: ada.password });
    const report = await call("admin_report", {}, cookie);
    expect(report).toMatchObject({ status: 403, body: { error: { code: "forbidden" } } });

    expect(await runScript(copy.dir, ["scripts/make-admin.ts", email], env)).toContain(`${email} is an admin`);
    await expect(runScript(copy.dir, ["scripts/make-admin.ts", "nobody@example.com"], env)).rejects.toThrow("Nobody");
    await page.goto("/account");
    await submit(page, "Sign out");
    await page.waitForURL(`${running.address}/`);
    await signIn(page, email);

    await page.getByRole("link", { name: "Users" }).click();
    await page.getByRole("heading", { name: "Registered users" }).waitFor();
    expect(await page.locator("tbody tr").first().textContent()).toMatch(new RegExp(`Admin.*${email}.*UTC`));
    const scripts = await page.locator("script").evaluateAll((all) => all.map((each) => each.getAttribute("src")));
    expect(scripts).toEqual(mode === "dev" ? ["/@vite/client"] : []);
    const admin = await call("login", { email, password: ada.password });
    const { body } = await call("admin_report", {}, admin.cookie);
    expect(body.result[0]).toMatchObject({ email, roles: ["admin"], registered: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(JSON.stringify(body)).not.toContain("pbkdf2");
  });

  it("can be used with the keyboard only", async () => {
    await call("register", { ...ada, email: "keys@example.com" });
    const page = await users.newPage();
    await page.goto("/");
    await page.locator("button:enabled").waitFor();
    await page.keyboard.press("Tab");
    expect(await page.locator(":focus").textContent()).toBe("Skip to content");
    await tabTo(page, "#email");
    await page.keyboard.type("keys@example.com");
    await page.keyboard.press("Tab");
    await page.keyboard.type("wrong password");
    await page.keyboard.press("Enter");
    await expectError(page, "password", "Unknown email or wrong password.");
    await page.keyboard.press("Control+A");
    await page.keyboard.type(ada.password);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/account");
    await page.locator("button:enabled").waitFor();
    await tabTo(page, "button");
    await page.keyboard.press("Space");
    await page.waitForURL(`${running.address}/`);
  });

  it("sends a form once, and keeps the focus on its button while it is sent", async () => {
    const page = await users.newPage();
    let markSent = () => {};
    let release = () => {};
    const sent = new Promise<void>((resolve) => (markSent = resolve));
    const released = new Promise<void>((resolve) => (release = resolve));
    let calls = 0;
    await page.route("**/__web/rpc/login", async (route) => {
      calls++;
      markSent();
      await released;
      await route.continue();
    });
    await page.goto("/");
    await fill(page, { email: "nobody@example.com", password: "whatever it is" });
    await page.locator("button:enabled").focus();
    await page.keyboard.press("Enter");
    await sent;
    await page.locator('button:enabled[aria-disabled="true"]:focus', { hasText: "Signing in…" }).waitFor();
    await page.keyboard.press("Enter");
    release();
    await expectError(page, "password", "Unknown email or wrong password.");
    expect(calls).toBe(1);
    expect(await page.textContent("button")).toBe("Sign in");
  });

  it("shows that a call has failed, and sends it again on request", async () => {
    await call("register", { ...ada, email: "again@example.com" });
    const page = await users.newPage();
    await page.goto("/");
    await page.route("**/__web/rpc/login", (route) => route.abort());
    await fill(page, { email: "again@example.com", password: ada.password });
    await submit(page, "Sign in");
    await page.getByRole("alert").filter({ hasText: "That did not work. Try again." }).waitFor();
    expect(users.problems.splice(0)).toEqual(["console: Failed to load resource: net::ERR_FAILED"]);
    await page.unrouteAll();
    await submit(page, "Sign in");
    await page.waitForURL("**/account");
  });

  it("keeps the input and submits no form without JavaScript", async () => {
    const page = await users.newPage({ javaScriptEnabled: false });
    for (const path of ["/", "/register"]) {
      await page.goto(path);
      await page.locator("noscript p", { hasText: "needs JavaScript" }).waitFor();
      expect(await page.locator("button:disabled").count()).toBe(1);
      await page.fill("#password", "not for the address");
      await page.press("#password", "Enter");
      expect(page.url()).toBe(running.address + path);
      expect(await page.inputValue("#password")).toBe("not for the address");
    }
  });

  it("has no accessibility problems, and fits on a small screen", async () => {
    const page = await users.newPage({ viewport: { width: 320, height: 640 } });
    const check = async (path: string) => {
      await page.goto(path);
      expect(await page.evaluate(findAccessibilityProblems), path).toEqual([]);
    };
    await check("/");
    await check("/register");
    await check("/admin");
    await register(page, "a.rather.long.address.that.goes.on@mathematics.example.org");
    await check("/account");
    await check("/nowhere");
  });

  it("sends no text of a server module to a browser", async () => {
    const pages = ["/", "/register", "/account"];
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
      ...(await textOfPages(await users.newPage(), pages)),
      ...(await Promise.all(modules.map(async (name) => ({ name, text: await (await get(name)).text() })))),
      ...(mode === "built" ? textOfBuild(copy.dir) : []),
    ];
    // Proves that the marker is in the build, and that the searched text includes the pages' scripts.
    if (mode === "built") expect(readFileSync(join(copy.dir, "dist/app.mjs"), "utf8")).toContain(MARKER);
    expect(received.some(({ text }) => text.includes("current-password"))).toBe(true);
    for (const secret of [MARKER, "ACCOUNTS_DATABASE_URL", "verify_password", "CREATE TABLE"]) {
      expect(received.filter(({ text }) => text.includes(secret)).map(({ name }) => name)).toEqual([]);
    }
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
  return { status: response.status, body: await response.json(), cookie: setCookie.split(";", 1)[0] ?? "" };
}

/** Adds the marker to server modules: in a message, in an SQL statement and in a comment. */
function plantMarker(dir: string): void {
  const change = (file: string, text: string, marked: string) => {
    const path = join(dir, "src", file);
    const source = readFileSync(path, "utf8");
    expect(source).toContain(text);
    writeFileSync(path, source.replace(text, marked));
  };
  change("accounts.server.ts", '"An email address has', `"${MARKER} An email address has`);
  change("accounts.server.ts", "/** Signs the user out. */", `/** ${MARKER} */`);
  change("users.server.ts", "CREATE TABLE", `/* ${MARKER} */ CREATE TABLE`);
}
