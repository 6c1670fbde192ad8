/**
 * "Continue with …", forgotten passwords and confirmed addresses of the accounts example, built, in Chromium: with a certified
 * provider of OpenID Connect on this machine.
 */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  ada,
  expectAlert,
  fill,
  findAccessibilityProblems,
  scriptsOf,
  signIn,
  signUp,
  submit,
} from "./accounts-actions.ts";
import { AccountsApp, type Providers, SCRIPTING, startProviders } from "./accounts-app.ts";
import { signOut } from "./passkey-actions.ts";

describe("the accounts example, with providers", () => {
  let app: AccountsApp;
  let providers: Providers;
  let provider: Providers["provider"];
  let github: Providers["github"];

  beforeAll(async () => {
    providers = await startProviders();
    ({ provider, github } = providers);
    app = await AccountsApp.open({ ...providers.env, WEB_DATA_DIR: "data" }); // in the folder of the copy
  });

  afterEach(async () => {
    expect((await app.clear()).filter((problem) => !isOfProvider(problem))).toEqual([]);
  });

  afterAll(async () => {
    await app?.close();
    await providers?.close();
  });

  /** Returns whether the browser has reported a problem of the provider's own pages: they load a font from another site. */
  const isOfProvider = (problem: string) =>
    problem.endsWith(`${provider.issuer}/favicon.ico`) || problem.endsWith("net::ERR_NAME_NOT_RESOLVED");

  /** Signs in at the provider, and allows the application to read the profile. */
  async function signInAtProvider(page: Page, login: string): Promise<void> {
    await page.waitForURL(`${provider.issuer}/**`);
    await page.fill("[name=login]", login);
    await page.fill("[name=password]", "any");
    await page.locator("button[type=submit]").click();
    await page.locator("button[type=submit]", { hasText: "Continue" }).click();
  }

  /** Returns the link of the latest mail to a user with a subject. */
  async function linkOf(email: string, subject: string): Promise<string> {
    const mail = new RegExp(`Mail to ${email}: ${subject}\n\n.*\n(http\\S+)`);
    await expect.poll(() => app.output()).toMatch(mail);
    return mail.exec(app.output())?.[1] ?? "";
  }

  it.each(SCRIPTING)(
    "signs in with a provider, returns to the page that required it, and signs out, %s",
    async (_, options) => {
      const login = `continue-${options.javaScriptEnabled}`;
      const email = `${login}@example.com`;
      provider.profiles.set(login, { name: ada.name, email, email_verified: true });
      const page = await app.users.reusePage(options);
      await page.goto("/account/codes");
      expect(new URL(page.url()).pathname).toBe("/");
      expect(await scriptsOf(page)).toEqual([]);
      await page.getByRole("link", { name: "Continue with Example" }).click();
      await signInAtProvider(page, login);
      await page.waitForURL(`${app.address}/account/codes`);
      await page.goto("/account");
      expect(await page.locator("dd").allTextContents()).toEqual([ada.name, email]);
      await page.getByText("Confirmed", { exact: true }).waitFor();
      const { cookies } = await page.context().storageState();
      expect(cookies.map(({ name }) => name).filter((name) => name.includes("provider"))).toEqual([]);

      // After the sign-out, Back shows neither the account nor the callback.
      await signOut(page);
      await page.goBack();
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      expect(await page.getByText(email).count()).toBe(0);
      for (let steps = 0; steps < 3; steps++) {
        await page.goBack();
        expect(await page.getByText(email).count()).toBe(0);
      }
    },
  );

  it("links an account that was registered and confirmed here, which keeps its password", async () => {
    const email = "linked@example.com";
    provider.profiles.set("linked", { name: "Other", email, email_verified: true });
    const page = await app.users.reusePage();
    await signUp(page, email);
    await page.goto("/account");
    await page.getByRole("link", { name: "Email address" }).click();
    await submit(page, "Send me a link");
    await page.getByText(`A link is on its way to ${email}.`).waitFor();
    await page.goto(await linkOf(email, "Confirm your address"));
    await submit(page, "Confirm");
    await page.getByRole("heading", { name: "Your address is confirmed" }).waitFor();
    await signOut(page);
    await page.getByRole("link", { name: "Continue with Example" }).click();
    await signInAtProvider(page, "linked");
    await page.waitForURL("**/account");
    expect(await page.locator("dd").allTextContents()).toEqual([ada.name, email]);
    await signOut(page);
    await signIn(page, email);
  });

  it("explains that an address is not verified, and that the user has not allowed it", async () => {
    provider.profiles.set("unverified", { email: "unverified@example.com", email_verified: false });
    const page = await app.users.reusePage({ viewport: { width: 320, height: 640 } });
    await page.goto("/");
    expect(await page.evaluate(findAccessibilityProblems)).toEqual([]);
    await page.getByRole("link", { name: "Continue with Example" }).click();
    await signInAtProvider(page, "unverified");
    await page.waitForURL("**/sign-in/failed?reason=unverified");
    await page.getByText("Your email address is not verified there.").waitFor();
    expect(await page.evaluate(findAccessibilityProblems)).toEqual([]);
    await page.getByRole("link", { name: "Back to the sign-in page" }).click();
    await page.waitForURL(`${app.address}/`);
    github.isAllowed = false;
    await page.getByRole("link", { name: "Continue with GitHub" }).click();
    await page.waitForURL("**/sign-in/failed?reason=denied");
    github.isAllowed = true;
    github.user = {
      id: 1906,
      login: "grace",
      name: null,
      emails: [{ email: "g@example.com", primary: true, verified: true }],
    };
    await page.getByRole("link", { name: "Back to the sign-in page" }).click();
    await page.getByRole("link", { name: "Continue with GitHub" }).click();
    await page.waitForURL("**/account");
    expect(await page.locator("dd").allTextContents()).toEqual(["grace", "g@example.com"]);
    expect(await page.evaluate(findAccessibilityProblems)).toEqual([]);
  });

  it.each(SCRIPTING)("replaces a forgotten password, which signs other browsers out, %s", async (_, options) => {
    const email = `forgotten-${options.javaScriptEnabled}@example.com`;
    const laptop = await app.users.reusePage(options);
    await signUp(laptop, email);
    const page = await app.users.reusePage({ ...options, viewport: { width: 320, height: 640 } });
    const check = async () => expect(await page.evaluate(findAccessibilityProblems)).toEqual([]);
    await page.goto("/");
    await fill(page, { email, password: "wrong engine" });
    await submit(page, "Sign in");
    await page.getByRole("link", { name: "Choose a new one" }).click();
    await check();
    await fill(page, { email });
    await submit(page, "Send me a link");
    await page.waitForURL("**/password/sent");
    await check();
    const link = await linkOf(email, "Choose a new password");
    const scanner = await app.users.reusePage();
    await scanner.goto(link, { waitUntil: "networkidle" }); // it may run the scripts of the page
    await page.goto(link);
    await check();
    await fill(page, { password: "difference engine" });
    await submit(page, "Change password");
    await page.waitForURL("**/password/changed");
    await check();
    await laptop.goto("/account");
    expect(new URL(laptop.url()).pathname).toBe("/");
    await fill(laptop, { email, password: "difference engine" });
    await submit(laptop, "Sign in");
    await laptop.waitForURL("**/account");
    await fill(scanner, { password: "third engine" });
    await submit(scanner, "Change password");
    await expectAlert(scanner, "This link has expired, or was used before.");
  });
});
