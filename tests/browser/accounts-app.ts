/**
 * The accounts example, built and running, with users in a browser, for one test file.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { expect } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { copyExample, type ExampleCopy } from "#test/copy-example";
import { build, type Environment, type RunningServer, startBuilt } from "#test/run-tsweb";
import { launch } from "./chromium.ts";

/** The running example. */
export class AccountsApp {
  readonly users: BrowserUsers;
  readonly #copy: ExampleCopy;
  readonly #browser: Browser;
  readonly #running: RunningServer;

  private constructor(copy: ExampleCopy, browser: Browser, running: RunningServer) {
    this.users = new BrowserUsers(browser, { baseURL: running.address });
    this.#copy = copy;
    this.#browser = browser;
    this.#running = running;
  }

  /** Builds and starts a copy of the example. The caller calls {@link close}. */
  static async open(env: Environment = {}): Promise<AccountsApp> {
    const browser = await launch();
    const copy = copyExample("accounts", ["tsweb", "@libsql/client"]);
    try {
      await build(copy.dir);
      const running = await startBuilt(copy.dir, {
        ACCOUNTS_DATABASE_URL: `file:${join(copy.dir, "users.db")}`,
        WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
        ...env,
      });
      return new AccountsApp(copy, browser, running);
    } catch (error) {
      await browser.close();
      copy.remove();
      throw error;
    }
  }

  get address(): string {
    return this.#running.address;
  }

  /** Returns the output of the server so far. */
  output(): string {
    return this.#running.output();
  }

  /** Closes the pages of all users. Returns the problems that the browser reported. */
  async clear(): Promise<string[]> {
    await this.users.closeAll();
    // Chromium warns at each registration that RS256 is missing. tsweb verifies ES256 only, so only ES256 is requested.
    return this.users.problems.splice(0).filter((text) => !text.includes("publicKey.pubKeyCredParams"));
  }

  async close(): Promise<void> {
    await this.#browser.close();
    const code = await this.#running.stop();
    this.#copy.remove();
    expect(code).toBe(0);
  }
}
