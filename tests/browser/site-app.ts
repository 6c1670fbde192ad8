/**
 * The fixture `pages`, whose pages belong to several test files, and an application in Chromium, served for the tests of a file.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { repository } from "#test/copy-example";
import { type RunningServer, startBuilt } from "#test/run-tsweb";
import { buildOnce } from "#test/shared-builds";
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

/** Copies the fixture `pages`, and builds it. The caller has to remove it. */
export async function buildPages(): Promise<TestProject> {
  const project = TestProject.copy(join(repository, "tests/browser/fixtures/pages"));
  for (const [name, text] of Object.entries({ "public/favicon.ico": "", runs: "", news: "1" }))
    project.write(name, text);
  await buildOnce(project.dir, "pages");
  return project;
}

/**
 * Serves an application, and opens a page of a new user for each test. The page shows nothing yet.
 *
 * @param build builds the application
 */
export function serveInBrowser(build: () => Promise<TestProject>, options?: LaunchOptions): BrowserApp {
  const app: { -readonly [name in keyof BrowserApp]?: BrowserApp[name] } = {};
  let browser: Browser;

  beforeAll(async () => {
    [browser, app.project] = await Promise.all([launch(options), build()]);
    app.running = await startBuilt(app.project.dir, {
      WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
      WEB_DATA_DIR: join(app.project.dir, "data"),
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
