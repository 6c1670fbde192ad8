import type { Browser } from "playwright-core";
import { expect } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import type { ExampleCopy } from "#test/copy-example";
import type { RunningServer } from "#test/run-tsweb";
import { type LaunchOptions, launch } from "./chromium.ts";

/** What {@link startExample} has started. */
export interface StartedExample {
  readonly copy: ExampleCopy;
  readonly browser: Browser;
  readonly running: RunningServer;
}

/** An example, running, with users in Chromium, for one test file. */
export class ExampleApp {
  readonly users: BrowserUsers;
  readonly #started: StartedExample;

  constructor(started: StartedExample) {
    this.users = new BrowserUsers(started.browser, { baseURL: started.running.address });
    this.#started = started;
  }

  /** The folder of the copy. */
  get dir(): string {
    return this.#started.copy.dir;
  }

  get address(): string {
    return this.#started.running.address;
  }

  /** Returns the output of the server so far. */
  output(): string {
    return this.#started.running.output();
  }

  /** Closes the pages of all users. Returns the problems that the browser reported. */
  async clear(): Promise<string[]> {
    await this.users.closeAll();
    return this.users.problems.splice(0);
  }

  async close(): Promise<void> {
    const { browser, running, copy } = this.#started;
    await browser.close();
    const code = await running.stop();
    copy.remove();
    expect(code).toBe(0);
  }
}

/** Starts a copy of an example, and a browser. If the example does not start, nothing of it is left. */
export async function startExample(
  copy: ExampleCopy,
  start: () => Promise<RunningServer>,
  options?: LaunchOptions,
): Promise<StartedExample> {
  const browser = await launch(options);
  try {
    return { copy, browser, running: await start() };
  } catch (error) {
    await browser.close();
    copy.remove();
    throw error;
  }
}
