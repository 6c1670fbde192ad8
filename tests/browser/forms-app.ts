/**
 * The fixture `forms`, built and running, with users in Chromium, for one test file.
 */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { repository } from "#test/copy-example";
import { type Environment, type RunningServer, startBuilt } from "#test/run-tsweb";
import { buildOnce } from "#test/shared-builds";
import { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";

const ENV = { WEB_ENV: "development", WEB_AUTH_SECRET: "3c".repeat(32), WEB_CSRF_SECRET: "7e".repeat(32) };

/** The running fixture. */
export class FormsApp {
  readonly users: BrowserUsers;
  readonly project: TestProject;
  readonly #browser: Browser;
  #running: RunningServer;

  private constructor(project: TestProject, browser: Browser, running: RunningServer) {
    this.project = project;
    this.users = new BrowserUsers(browser, { baseURL: running.address });
    this.#browser = browser;
    this.#running = running;
  }

  /** Builds and starts the fixture. The caller calls {@link close}. */
  static async open(env: Environment = {}): Promise<FormsApp> {
    const project = TestProject.copy(`${repository}/tests/browser/fixtures/forms`);
    project.write("public/favicon.ico", "");
    await buildOnce(project.dir, "forms");
    const running = await startBuilt(project.dir, { ...ENV, ...env });
    return new FormsApp(project, await launch(), running);
  }

  get address(): string {
    return this.#running.address;
  }

  /** Opens the page of this test, and waits until its views are alive, if scripts are on. */
  async visit(path: string, options: BrowserContextOptions = {}, users = this.users): Promise<Page> {
    const page = await users.reusePage(options);
    await page.goto(path);
    if (options.javaScriptEnabled !== false) await waitUntilAlive(page);
    return page;
  }

  /** Returns the calls of functions since the last time. */
  async takeCalls(): Promise<string[]> {
    const response = await fetch(`${this.address}/calls`);
    return (await response.json()) as string[]; // the route returns an array of texts
  }

  async close(): Promise<void> {
    await this.#browser.close();
    expect(await this.#running.stop()).toBe(0);
    this.project.remove();
  }
}

/** Waits until the views of a page are hydrated. */
export async function waitUntilAlive(page: Page): Promise<void> {
  await page.locator("html[data-ready]").waitFor({ state: "attached" });
}

/** Returns the text of an element, once it is not empty. */
export async function textOf(page: Page, selector: string): Promise<string> {
  await expect.poll(() => page.locator(selector).textContent()).not.toBe("");
  return (await page.locator(selector).textContent()) ?? "";
}

/** Returns what a page shows of the fields of its forms, by name: the text, or whether they are checked. */
export function fieldsOf(page: Page): Promise<Record<string, string | boolean>> {
  return page.evaluate(() => {
    const fields = document.querySelectorAll<HTMLInputElement>(
      "form :is(input, textarea):not([type=hidden], [type=submit])",
    );
    return Object.fromEntries(
      [...fields].map((field) => [
        field.type === "checkbox" && field.value !== "on" ? `${field.name} ${field.value}` : field.name,
        field.type === "checkbox" ? field.checked : field.value,
      ]),
    );
  });
}
