/**
 * Passkeys of the accounts example in Chromium, with a virtual authenticator.
 */
import { randomBytes } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { itInMatrix } from "#test/matrix";
import { textOfPages } from "#test/received-text";
import {
  ada,
  expectAlert,
  findAccessibilityProblems,
  register,
  scriptsOf,
  signUp,
  submit,
  tabTo,
} from "./accounts-actions.ts";
import { AccountsApp } from "./accounts-app.ts";
import { Authenticator, addPasskey, forgetSession, signOut, usePasskey } from "./passkey-actions.ts";

describe("passkeys of the accounts example, built", () => {
  let app: AccountsApp;

  beforeAll(async () => {
    app = await AccountsApp.open({ WEB_CSRF_SECRET: randomBytes(32).toString("hex") });
  });

  afterEach(async () => {
    expect(await app.clear()).toEqual([]);
  });

  afterAll(() => app?.close());

  /** Opens a page of a new, signed-in user with a passkey. */
  async function registerWithPasskey(email: string) {
    const page = await app.users.reusePage();
    const authenticator = await Authenticator.addTo(page);
    await signUp(page, email);
    await addPasskey(page);
    return { page, authenticator };
  }

  /** Calls a server function in the page, with its cookies. */
  const call = (page: Page, name: string, args: object) =>
    page.evaluate(
      async ([name, args]) => {
        const token = document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content ?? "";
        const response = await fetch(`/__web/rpc/${name}`, {
          method: "POST",
          headers: { "content-type": "application/json", "x-csrf-token": token },
          body: JSON.stringify({ args }),
        });
        return { status: response.status, body: await response.json() };
      },
      [name, args] as const,
    );

  it("can be added to an account, and sign in without a password", async () => {
    const page = await app.users.reusePage();
    const authenticator = await Authenticator.addTo(page);
    await register(page, "ada@example.com");
    await page.getByRole("link", { name: "Passkeys" }).click();
    await submit(page, "Add a passkey");
    await page.locator(".rows li", { hasText: "Not used yet" }).waitFor();
    expect(await authenticator.credentials()).toMatchObject([{ isResidentCredential: true, rpId: "localhost" }]);
    for (let count = 0; count < 2; count++) {
      await signOut(page);
      await page.getByRole("link", { name: "Use a passkey" }).click();
      await submit(page, "Use a passkey");
      await page.waitForURL("**/account");
      expect(await page.locator("dd").allTextContents()).toEqual([ada.name, "ada@example.com"]);
    }
    await page.getByRole("link", { name: "Passkeys" }).click();
    await page.locator(".rows li", { hasText: "Used on" }).waitFor();
  });

  itInMatrix("can be used with the keyboard only", async () => {
    const page = await app.users.newPage();
    await Authenticator.addTo(page);
    await register(page, "keys@example.com");
    await tabTo(page, 'a[href="/account/passkeys"]');
    await page.keyboard.press("Enter");
    await page.locator("button:enabled").waitFor();
    await tabTo(page, "button");
    await page.keyboard.press("Enter");
    await page.locator(".rows li").waitFor();
    await signOut(page);
    await tabTo(page, 'a[href="/passkey"]');
    await page.keyboard.press("Enter");
    await page.waitForURL("**/passkey");
    await page.locator("button:enabled").waitFor();
    await tabTo(page, "button");
    await page.keyboard.press("Space");
    await page.waitForURL("**/account");
  });

  it("can be added once per device, and cannot sign in from a device without one", async () => {
    const { page, authenticator } = await registerWithPasskey("once@example.com");
    await submit(page, "Add a passkey");
    await expectAlert(page, "This device has a passkey for your account already.");
    expect(await authenticator.credentials()).toHaveLength(1);

    const signedOutPage = await app.users.reusePage();
    const emptyAuthenticator = await Authenticator.addTo(signedOutPage);
    await usePasskey(signedOutPage);
    await expectAlert(signedOutPage, "No passkey was used. Try again.");
    expect(await emptyAuthenticator.credentials()).toEqual([]);
    expect(new URL(signedOutPage.url()).pathname).toBe("/passkey");
  });

  it("require user verification", async () => {
    const { page, authenticator } = await registerWithPasskey("finger@example.com");
    await forgetSession(page);
    await authenticator.setVerified(false);
    await usePasskey(page);
    await expectAlert(page, "No passkey was used. Try again.");
    await authenticator.setVerified(true);
    await submit(page, "Use a passkey");
    await page.waitForURL("**/account");
  });

  it("answer one challenge once: a replayed assertion is rejected", async () => {
    const { page } = await registerWithPasskey("replay@example.com");
    await forgetSession(page);
    const sending = page.waitForRequest("**/__web/rpc/sign_in_with_passkey");
    await usePasskey(page);
    const { args } = (await sending).postDataJSON() as { args: object };
    await page.waitForURL("**/account");
    await page.goto("/account/passkeys"); // a page with a script has the CSRF token
    const challengeUsed = { status: 401, body: { error: { code: "unauthenticated" } } };
    expect(await call(page, "sign_in_with_passkey", args)).toMatchObject(challengeUsed);

    const attackerPage = await app.users.reusePage();
    await attackerPage.goto("/passkey");
    expect(await call(attackerPage, "sign_in_with_passkey", args)).toMatchObject(challengeUsed);
    expect(await call(attackerPage, "passkey_sign_in_options", {})).toMatchObject({ status: 200 });
    const rejected = { status: 422, body: { error: { message: "The passkey answered another challenge." } } };
    expect(await call(attackerPage, "sign_in_with_passkey", args)).toMatchObject(rejected);
    // The new challenge has been used, too.
    expect(await call(attackerPage, "sign_in_with_passkey", args)).toMatchObject(challengeUsed);
    await attackerPage.goto("/account");
    expect(new URL(attackerPage.url()).pathname).toBe("/");
  });

  it("are rejected if they are copies with an old counter", async () => {
    const { page, authenticator } = await registerWithPasskey("copied@example.com");
    const [credential] = await authenticator.credentials();
    if (!credential) throw new Error("The authenticator has no passkey.");
    await forgetSession(page);
    for (let count = 0; count < 2; count++) {
      await usePasskey(page);
      await page.waitForURL("**/account");
      await forgetSession(page);
    }
    const attackerPage = await app.users.reusePage();
    await (await Authenticator.addTo(attackerPage)).add(credential);
    await usePasskey(attackerPage);
    await expectAlert(attackerPage, "The passkey's counter did not rise");
    await usePasskey(page);
    await page.waitForURL("**/account");
  });

  it("cannot sign in after they are removed", async () => {
    const { page } = await registerWithPasskey("removed@example.com");
    await page.getByRole("form", { name: /Passkey of/ }).waitFor();
    const withoutScript = await app.users.reusePage({ javaScriptEnabled: false });
    await withoutScript.context().addCookies(await page.context().cookies());
    await withoutScript.goto("/account/passkeys");
    await submit(withoutScript, "Remove");
    await withoutScript.locator(".rows").waitFor({ state: "detached" });
    await forgetSession(page);
    await usePasskey(page);
    await expectAlert(page, "This passkey is not known here.");
  });

  it("can be added only by the signed-in user, with the user's own challenge", async () => {
    const signedOutPage = await app.users.reusePage();
    await signedOutPage.goto("/passkey");
    const signedOut = { status: 401, body: { error: { code: "unauthenticated" } } };
    for (const name of ["passkey_registration_options", "remove_passkey", "add_passkey"]) {
      const args = { passkey_registration_options: {}, remove_passkey: { id: "x" } }[name] ?? {
        clientData: "",
        authData: "",
      };
      expect(await call(signedOutPage, name, args)).toMatchObject(signedOut);
    }

    const { page } = await registerWithPasskey("owner@example.com");
    const emptyResponse = { clientData: "e30", authData: "" };
    expect(await call(page, "add_passkey", emptyResponse)).toMatchObject(signedOut);
    expect(await call(page, "passkey_registration_options", {})).toMatchObject({ status: 200 });
    const rejected = { status: 422, body: { error: { code: "validation_error" } } };
    expect(await call(page, "add_passkey", emptyResponse)).toMatchObject(rejected);
    expect(await call(page, "add_passkey", emptyResponse)).toMatchObject(signedOut);
  });

  it("need script, which their pages say without", async () => {
    const page = await app.users.reusePage({ javaScriptEnabled: false });
    await page.goto("/passkey");
    await page.locator("noscript p", { hasText: "Passkeys need JavaScript" }).waitFor();
    expect(await page.locator("main button:disabled").count()).toBe(1);
    expect(await page.evaluate(findAccessibilityProblems)).toEqual([]);
  });

  itInMatrix("are requested once, and the button keeps the focus meanwhile", async () => {
    const page = await app.users.reusePage();
    await Authenticator.addTo(page);
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    let calls = 0;
    await page.route("**/__web/rpc/passkey_sign_in_options", async (route) => {
      calls++;
      await released;
      await route.continue();
    });
    await page.goto("/passkey");
    await page.locator("button:enabled").focus();
    await page.keyboard.press("Enter");
    await page.locator('button:enabled[aria-disabled="true"]:focus', { hasText: "Asking your device…" }).waitFor();
    await page.keyboard.press("Enter");
    release();
    await expectAlert(page, "No passkey was used. Try again.");
    expect(calls).toBe(1);
    expect(await page.textContent("button")).toBe("Use a passkey");
  });

  itInMatrix("show that a call has failed, and send it again on request", async () => {
    const { page } = await registerWithPasskey("again@example.com");
    await forgetSession(page);
    await page.route("**/__web/rpc/passkey_sign_in_options", (route) => route.abort());
    await usePasskey(page);
    await expectAlert(page, "That did not work. Try again.");
    const aborted = app.users.problems.indexOf("console: Failed to load resource: net::ERR_FAILED");
    expect(app.users.problems.splice(aborted, 1)).toHaveLength(1);
    await page.unrouteAll();
    await submit(page, "Use a passkey");
    await page.waitForURL("**/account");
  });

  it("do not add their scripts to the sign-in page", async () => {
    const page = await app.users.reusePage();
    const has = async (path: string) =>
      (await textOfPages(page, [path])).some(({ text }) => text.includes("parseRequestOptionsFromJSON"));
    expect(await has("/passkey")).toBe(true);
    expect(await has("/")).toBe(false);
    expect(await scriptsOf(page)).toEqual([]);
  });

  itInMatrix("have pages without accessibility problems, which fit on a small screen", async () => {
    const page = await app.users.newPage({ viewport: { width: 320, height: 640 } });
    await Authenticator.addTo(page);
    await page.goto("/passkey");
    expect(await page.evaluate(findAccessibilityProblems)).toEqual([]);
    await signUp(page, "small@example.com");
    await addPasskey(page);
    expect(await page.evaluate(findAccessibilityProblems)).toEqual([]);
  });
});
