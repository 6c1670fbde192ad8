/**
 * Virtual authenticators in the browser, by the DevTools protocol, and the actions of users with passkeys.
 */
import type { CDPSession, Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { submit } from "./accounts-actions.ts";

/** A passkey in an authenticator. */
export interface Credential {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly rpId?: string;
  readonly privateKey: string;
  readonly userHandle?: string;
  readonly signCount: number;
}

/** A virtual platform authenticator that confirms every request. */
export class Authenticator {
  readonly #session: CDPSession;
  readonly #id: string;

  private constructor(session: CDPSession, id: string) {
    this.#session = session;
    this.#id = id;
  }

  /** Adds a virtual authenticator to a page until the end of the test. */
  static async addTo(page: Page): Promise<Authenticator> {
    const session = await page.context().newCDPSession(page);
    onTestFinished(() => session.detach().catch(() => undefined)); // the page may be closed
    await session.send("WebAuthn.enable");
    const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return new Authenticator(session, authenticatorId);
  }

  async credentials(): Promise<Credential[]> {
    const { credentials } = await this.#session.send("WebAuthn.getCredentials", { authenticatorId: this.#id });
    return credentials;
  }

  /** Adds a passkey, for example a copied one. */
  async add(credential: Credential): Promise<void> {
    await this.#session.send("WebAuthn.addCredential", { authenticatorId: this.#id, credential });
  }

  /** Sets whether user verification succeeds. */
  async setVerified(isUserVerified: boolean): Promise<void> {
    await this.#session.send("WebAuthn.setUserVerified", { authenticatorId: this.#id, isUserVerified });
  }
}

/** Adds a passkey to the account of the signed-in user. */
export async function addPasskey(page: Page): Promise<void> {
  await page.goto("/account/passkeys");
  const before = await page.locator(".rows li").count();
  await submit(page, "Add a passkey");
  await page.locator(".rows li").nth(before).waitFor();
}

/** Signs in with a passkey. */
export async function usePasskey(page: Page): Promise<void> {
  await page.goto("/passkey");
  await submit(page, "Use a passkey");
}

/** Ends the session of a page without a request, for tests of what follows. */
export async function forgetSession(page: Page): Promise<void> {
  await page.context().clearCookies();
}

/** Signs out, and waits for the sign-in page. */
export async function signOut(page: Page): Promise<void> {
  await page.goto("/account");
  await submit(page, "Sign out");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
}
