/**
 * The accounts example, built, with a certified OpenID Connect provider and a server that does what GitHub does, and its users.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { AccountsUser } from "#test/accounts-user";
import type { ExampleCopy } from "#test/copy-example";
import type { GitHubServer } from "#test/github-server";
import type { RunningProvider } from "#test/identity-provider";
import type { RunningServer } from "#test/run-tsweb";
import { copyAccounts, type Providers, serveAccounts, startProviders } from "../browser/accounts-app.ts";

export const SECRET = randomBytes(32).toString("hex");
export const PASSWORD = "analytical engine";
export const COOKIE = "accounts_provider";
export const FAILED = "/sign-in/failed?reason=";

export let copy: ExampleCopy;
export let app: RunningServer;
let providers: Providers;
export let provider: RunningProvider;
export let github: GitHubServer;
export let env: Record<string, string>;
/** How many users there were so far. */
export let numUsers = 0;

/** Serves the example and both providers to the tests of a file. */
export function useProviders(): void {
  beforeAll(async () => {
    copy = copyAccounts();
    providers = await startProviders();
    ({ provider, github } = providers);
    const own = { WEB_AUTH_SECRET: SECRET, WEB_TRUST_PROXY: "1", WEB_DATA_DIR: join(copy.dir, "data") };
    env = { ...providers.env, ...own };
    app = await serveAccounts(copy, env);
  });

  afterAll(async () => {
    await app?.stop();
    await providers?.close();
    copy?.remove();
  });
}

/** A user of the application and of both providers. */
export class User extends AccountsUser {
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

/** Returns a user of the application who is none of a provider yet. */
export function visitApplication(): AccountsUser {
  return new AccountsUser(app.address, ++numUsers);
}

/** Expects that a callback has failed, and has signed nobody in. */
export async function expectRefused(
  user: User,
  { location }: { location: string | null },
  reason: string,
): Promise<void> {
  expect(location).toBe(FAILED + reason);
  expect(await user.signedInAs()).toBeNull();
  const { status, text } = await user.get(FAILED + reason);
  expect([status, text]).toEqual([200, expect.stringContaining("You are not signed in")]);
}
