/**
 * An application in Chromium, built and served for the tests of a file.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { build, type RunningServer, startBuilt } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { type LaunchOptions, launch } from "./chromium.ts";

/** The application, once the tests run. */
interface BrowserApp {
  readonly project: TestProject;
  readonly running: RunningServer;
  /** The users of the test, of whom the first has the page. Their browser may report no problem. */
  readonly users: BrowserUsers;
  readonly page: Page;
}

/** Builds and serves an application, and opens a page of a new user for each test. The page shows nothing yet. */
export function serveInBrowser(files: Readonly<Record<string, string>>, options?: LaunchOptions): BrowserApp {
  const app: { -readonly [name in keyof BrowserApp]?: BrowserApp[name] } = {};
  let browser: Browser;

  beforeAll(async () => {
    const project = TestProject.fromFiles({ "public/favicon.ico": "", ...files });
    app.project = project;
    [browser] = await Promise.all([launch(options), build(project.dir)]);
    app.running = await startBuilt(project.dir, {
      WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
      WEB_DATA_DIR: join(project.dir, "data"),
    });
  });

  afterAll(async () => {
    await browser?.close();
    await app.running?.stop();
    app.project?.remove();
  });

  beforeEach(async () => {
    app.users ??= new BrowserUsers(browser, { baseURL: app.running?.address ?? "" });
    app.page = await app.users.reusePage();
  });

  afterEach(async () => {
    await app.users?.closeAll();
    expect(app.users?.problems.splice(0)).toEqual([]);
  });

  return app as BrowserApp; // complete in tests and in the hooks that are registered after these
}
