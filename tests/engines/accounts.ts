/**
 * Scenarios of the accounts example: sign-in with and without script, and what Back shows after a sign-out.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { ExampleCopy } from "#test/copy-example";
import { fasterHashing } from "#test/faster-hashing";
import type { RunningServer } from "#test/run-tsweb";
import { copyAccounts, serveAccounts } from "../browser/accounts-app.ts";
import type { Scenarios } from "./each-engine.ts";
import type { EnginePage } from "./engine.ts";

const PASSWORD = "analytical engine";
const NAME = "Ada Lovelace";

/** The buttons of the pages. */
const SUBMIT = "main form:not(.quiet) button";
const SIGN_OUT = 'form[action*="logout."] button';

/** What the server prints when its clock was set. */
const CLOCK_CHANGED = "The clock is eight days ahead.";

/** Returns the option of Node for a clock that SIGUSR2 sets eight days forward: a session lasts seven. */
function clockOption(): string {
  const code = `
    const { now } = Date;
    let offset = 0;
    process.on("SIGUSR2", () => { offset += 8 * 24 * 3_600_000; console.log("${CLOCK_CHANGED}"); });
    globalThis.Date = class extends Date {
      constructor(...args) { args.length === 0 ? super(now() + offset) : super(...args); }
      static now() { return now() + offset; }
    };`;
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

let users = 0;
/** Returns an address that is not registered. */
const newAddress = () => `user-${++users}@example.com`;

let running: RunningServer;
let clockChanges = 0;

/** Serves the example to all engines. */
export function useAccounts(): void {
  let copy: ExampleCopy;

  beforeAll(async () => {
    copy = copyAccounts();
    const NODE_OPTIONS = `${fasterHashing().NODE_OPTIONS} ${clockOption()}`;
    running = await serveAccounts(copy, { WEB_DATA_DIR: join(copy.dir, "data"), NODE_OPTIONS });
  });

  afterAll(async () => {
    expect(await running?.stop()).toBe(0);
    copy?.remove();
  });
}

export function accountsScenarios({ scenario, essential }: Scenarios): void {
  describe("the accounts example", () => {
    const open = (page: EnginePage, path: string) => page.open(running.address + path);

    /** Registers a user with the form, and waits for the account page. */
    async function register(page: EnginePage, email: string): Promise<void> {
      await open(page, "/register");
      await page.type("#name", NAME);
      await page.type("#email", email);
      await page.type("#password", PASSWORD);
      await page.click(SUBMIT);
      await page.untilPath("/account");
    }

    /** Signs a user in with the form of the page that is shown. */
    async function signIn(page: EnginePage, email: string, password = PASSWORD): Promise<void> {
      await page.type("#email", email);
      await page.type("#password", `${password}\n`);
    }

    /** Signs the user out with the button of the account page. */
    async function signOut(page: EnginePage): Promise<void> {
      await page.click(SIGN_OUT);
      await page.untilPath("/");
    }

    /** Sets the clock of the server forward until all sessions have expired. */
    async function expireSessions(): Promise<void> {
      running.signal("SIGUSR2");
      clockChanges++;
      await expect.poll(() => running.output().split(CLOCK_CHANGED).length - 1).toBe(clockChanges);
    }

    /** Goes back. What is shown then must be the sign-in page, which has nothing of the user. */
    async function expectNothingOnBack(page: EnginePage, email: string, steps = 1): Promise<void> {
      // The page that is left may be the sign-in page, too.
      await page.evaluate((steps) => {
        document.documentElement.dataset.left = "yes";
        history.go(-steps);
      }, steps);
      await page.until(
        () =>
          document.readyState === "complete" &&
          !document.documentElement.dataset.left &&
          !!document.querySelector("#password"),
      );
      await expectSignIn(page, email);
    }

    /** Waits for the sign-in page, which must have nothing of the user. */
    async function expectSignIn(page: EnginePage, email: string): Promise<void> {
      await page.until(() => document.readyState === "complete" && !!document.querySelector("#password"));
      const html = await page.evaluate(() => document.documentElement.outerHTML);
      expect(html).not.toContain(email);
      expect(html).not.toContain(NAME);
    }

    for (const isScriptOn of [true, false]) {
      const declare = isScriptOn ? essential : scenario;
      declare(
        `registers, signs out, and signs in with the right password, with script ${isScriptOn}`,
        async (newContext) => {
          const page = await (await newContext({ isScriptOn })).newPage();
          const email = newAddress();
          await register(page, email);
          expect(await page.text()).toContain(email);
          await signOut(page);
          await signIn(page, email, "difference engine");
          await page.untilText("Unknown email or wrong password.");
          await page.type("#password", `${PASSWORD}\n`);
          await page.untilPath("/account");
          expect(await page.text()).toContain(NAME);
        },
      );

      scenario(
        `shows nothing of the user on Back after a sign-out, with script ${isScriptOn} [BACK-1]`,
        async (newContext) => {
          const page = await (await newContext({ isScriptOn })).newPage();
          const email = newAddress();
          await register(page, email);
          await signOut(page);
          await expectNothingOnBack(page, email);
        },
      );
    }

    essential("shows nothing of the user on Back after a sign-out in another tab [BACK-3]", async (newContext) => {
      const context = await newContext();
      const page = await context.newPage();
      const email = newAddress();
      await register(page, email);
      await page.click('a[href="/account/codes"]');
      await page.untilPath("/account/codes");
      const other = await context.newPage();
      await open(other, "/account");
      await signOut(other);
      await expectNothingOnBack(page, email);
    });

    scenario(
      "shows nothing of the user on Back to a page with a view after a sign-out [BACK-2]",
      async (newContext) => {
        const page = await (await newContext()).newPage();
        const email = newAddress();
        await register(page, email);
        await page.click('a[href="/account/passkeys"]');
        await page.untilPath("/account/passkeys");
        await page.until((name) => (document.body.dataset.user = name), email); // as if the view had rendered it
        await page.click('main a[href="/account"]');
        await page.untilPath("/account");
        await signOut(page);
        await expectNothingOnBack(page, email, 2);
      },
    );

    scenario(
      "shows nothing of the user on Back after a revocation that a later page has met [BACK-4]",
      async (newContext) => {
        const page = await (await newContext()).newPage();
        const email = newAddress();
        await register(page, email);
        const elsewhere = await (await newContext()).newPage();
        await open(elsewhere, "/");
        await signIn(elsewhere, email);
        await elsewhere.untilPath("/account");
        await elsewhere.click('button[formaction*="logout_everywhere."]');
        await elsewhere.untilPath("/");
        await page.click('a[href="/account/codes"]');
        await page.untilPath("/");
        await expectNothingOnBack(page, email);
      },
    );

    scenario(
      "shows nothing of the user on Back after an expiry that a later page has met [BACK-6]",
      async (newContext) => {
        const page = await (await newContext()).newPage();
        const email = newAddress();
        await register(page, email);
        await page.click('a[href="/account/passkeys"]'); // a page with a view
        await page.untilPath("/account/passkeys");
        await page.until((name) => (document.body.dataset.user = name), email); // as if the view had rendered it
        await expireSessions();
        await page.click('main a[href="/account"]');
        await page.untilPath("/");
        await expectNothingOnBack(page, email);
        await expectNothingOnBack(page, email);
      },
    );

    scenario(
      "shows nothing of the user in tabs that are opened again after a sign-out [BACK-7]",
      async (newContext) => {
        const context = await newContext();
        const page = await context.newPage();
        const email = newAddress();
        await register(page, email);
        for (const path of ["/account", "/account/passkeys"]) {
          const closed = await context.newPage();
          await open(closed, path);
          await closed.untilText(path === "/account" ? email : "passkey");
          await closed.close();
        }
        await open(page, "/account");
        await signOut(page);
        for (const path of ["/account", "/account/passkeys"]) {
          const reopened = await context.newPage();
          await open(reopened, path);
          await expectSignIn(reopened, email);
        }
      },
    );

    scenario("leads to the page that required a sign-in", async (newContext) => {
      const page = await (await newContext()).newPage();
      const email = newAddress();
      await register(page, email);
      await signOut(page);
      await open(page, "/account/codes");
      await page.untilPath("/");
      await signIn(page, email);
      await page.untilPath("/account/codes");
    });
  });
}
