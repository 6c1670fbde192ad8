/**
 * Passkeys of the accounts example in a real browser with an authenticator in it.
 */
import { randomBytes } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { textOfPages } from "#test/received-text";
import { ada, expectAlert, findFlaws, register, submit, tabTo } from "./accounts-actions.ts";
import { AccountsApp } from "./accounts-app.ts";
import { Authenticator, addPasskey, signOut, usePasskey } from "./passkey-actions.ts";

describe("passkeys of the accounts example, built", { timeout: 60_000 }, () => {
  let app: AccountsApp;

  beforeAll(async () => {
    app = await AccountsApp.open({ WEB_CSRF_SECRET: randomBytes(32).toString("hex") });
  }, 120_000);

  afterEach(async () => {
    expect(await app.clear()).toEqual([]);
  });

  afterAll(() => app?.close());

  /** Gives the page of a new user with a passkey, signed in. */
  async function arriveWithPasskey(email: string) {
    const page = await app.users.newPage();
    const authenticator = await Authenticator.addTo(page);
    await register(page, email);
    await addPasskey(page);
    return { page, authenticator };
  }

  /** Calls a server function as the page would, with its cookies. */
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

  it("are added to an account, and sign in to it without a password", async () => {
    const { page, authenticator } = await arriveWithPasskey("ada@example.com");
    expect(await authenticator.credentials()).toMatchObject([{ isResidentCredential: true, rpId: "localhost" }]);
    expect(await page.textContent(".rows li")).toContain("Not used yet");
    await signOut(page);
    for (let times = 0; times < 2; times++) {
      await usePasskey(page);
      await page.waitForURL("**/account");
      expect(await page.locator("dd").allTextContents()).toEqual([ada.name, "ada@example.com"]);
      await signOut(page);
    }
    await usePasskey(page);
    await page.waitForURL("**/account");
    await page.getByRole("link", { name: "Passkeys" }).click();
    await page.locator(".rows li", { hasText: "Used on" }).waitFor();
  });

  it("work with the keyboard alone", async () => {
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

  it("are made once a device, and asked for where there is none", async () => {
    const { page, authenticator } = await arriveWithPasskey("once@example.com");
    await submit(page, "Add a passkey");
    await expectAlert(page, "This device has a passkey for your account already.");
    expect(await authenticator.credentials()).toHaveLength(1);

    const stranger = await app.users.newPage();
    const empty = await Authenticator.addTo(stranger);
    await usePasskey(stranger);
    await expectAlert(stranger, "No passkey was used. Try again.");
    expect(await empty.credentials()).toEqual([]);
    expect(new URL(stranger.url()).pathname).toBe("/passkey");
  });

  it("want their user's own finger", async () => {
    const { page, authenticator } = await arriveWithPasskey("finger@example.com");
    await signOut(page);
    await authenticator.setVerified(false);
    await usePasskey(page);
    await expectAlert(page, "No passkey was used. Try again.");
    await authenticator.setVerified(true);
    await submit(page, "Use a passkey");
    await page.waitForURL("**/account");
  });

  it("answer one challenge once: what was sent before is worth nothing", async () => {
    const { page } = await arriveWithPasskey("replay@example.com");
    await signOut(page);
    const sending = page.waitForRequest("**/__web/rpc/sign_in_with_passkey");
    await usePasskey(page);
    const { args } = (await sending).postDataJSON() as { args: object };
    await page.waitForURL("**/account");
    const tooLate = { status: 401, body: { error: { code: "unauthenticated" } } };
    expect(await call(page, "sign_in_with_passkey", args)).toMatchObject(tooLate);

    const thief = await app.users.newPage();
    await thief.goto("/passkey");
    expect(await call(thief, "sign_in_with_passkey", args)).toMatchObject(tooLate);
    expect(await call(thief, "ask_for_passkey", {})).toMatchObject({ status: 200 });
    const refused = { status: 422, body: { error: { message: "The passkey answered another challenge." } } };
    expect(await call(thief, "sign_in_with_passkey", args)).toMatchObject(refused);
    // That one is spent, too.
    expect(await call(thief, "sign_in_with_passkey", args)).toMatchObject(tooLate);
    await thief.goto("/account");
    expect(new URL(thief.url()).pathname).toBe("/");
  });

  it("are noticed when they were copied", async () => {
    const { page, authenticator } = await arriveWithPasskey("copied@example.com");
    const [credential] = await authenticator.credentials();
    if (!credential) throw new Error("There is no passkey.");
    await signOut(page);
    for (let times = 0; times < 2; times++) {
      await usePasskey(page);
      await page.waitForURL("**/account");
      await signOut(page);
    }
    const thief = await app.users.newPage();
    await (await Authenticator.addTo(thief)).add(credential);
    await usePasskey(thief);
    await expectAlert(thief, "The passkey's counter did not rise");
    await usePasskey(page);
    await page.waitForURL("**/account");
  });

  it("are known no more once they are removed", async () => {
    const { page } = await arriveWithPasskey("removed@example.com");
    await page.getByRole("form", { name: /Passkey of/ }).waitFor();
    await submit(page, "Remove");
    await page.locator(".rows").waitFor({ state: "detached" });
    await signOut(page);
    await usePasskey(page);
    await expectAlert(page, "This passkey is not known here.");
  });

  it("are added by nobody but their account's owner, to a challenge of their own", async () => {
    const stranger = await app.users.newPage();
    await stranger.goto("/passkey");
    const signedOut = { status: 401, body: { error: { code: "unauthenticated" } } };
    for (const name of ["new_passkey", "remove_passkey", "add_passkey"]) {
      const args = { new_passkey: {}, remove_passkey: { id: "x" } }[name] ?? { clientData: "", authData: "" };
      expect(await call(stranger, name, args)).toMatchObject(signedOut);
    }

    const { page } = await arriveWithPasskey("owner@example.com");
    const nothing = { clientData: "e30", authData: "" };
    expect(await call(page, "add_passkey", nothing)).toMatchObject(signedOut);
    expect(await call(page, "new_passkey", {})).toMatchObject({ status: 200 });
    const refused = { status: 422, body: { error: { code: "validation_error" } } };
    expect(await call(page, "add_passkey", nothing)).toMatchObject(refused);
    expect(await call(page, "add_passkey", nothing)).toMatchObject(signedOut);
  });

  it("have no part in what the sign-in page loads", async () => {
    const page = await app.users.newPage();
    const has = async (path: string) =>
      (await textOfPages(page, [path])).some(({ text }) => text.includes("parseRequestOptionsFromJSON"));
    expect(await has("/passkey")).toBe(true);
    expect(await has("/")).toBe(false);
  });

  it("have pages that name every field and error, and fit on a small screen", async () => {
    const page = await app.users.newPage({ viewport: { width: 320, height: 640 } });
    await Authenticator.addTo(page);
    await page.goto("/passkey");
    expect(await page.evaluate(findFlaws)).toEqual([]);
    await register(page, "small@example.com");
    await addPasskey(page);
    expect(await page.evaluate(findFlaws)).toEqual([]);
  });
});
