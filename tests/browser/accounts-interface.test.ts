/**
 * The tables of the reference application: what its functions return, and what its pages do. Each row is run by a call and by a
 * form that no browser sends, and one row of each kind in Chromium: in `npm run matrix -- browser` all, with script and without.
 */
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { AccountsUser } from "#test/accounts-user";
import { IS_MATRIX } from "#test/matrix";
import { AccountsApp, SCRIPTING } from "./accounts-app.ts";

const PASSWORD = "analytical engine";
const NAME = "Ada Lovelace";

/** What a function is called with, and what follows. Addresses are those of the row's user. */
interface Row {
  readonly name: string;
  readonly fn: "register" | "login" | "logout";
  /** What the user has done before. */
  readonly user: "new" | "registered" | "signed in";
  readonly args?: (email: string) => Readonly<Record<string, string>>;
  /** The body of the response to the call: a result, or an error with its status. */
  readonly result?: boolean | null;
  readonly error?: readonly [status: number, code: string];
  /** The page with the form, and the label of its button. */
  readonly page: "/" | "/register" | "/account";
  readonly button: "Sign in" | "Create account" | "Sign out";
  /** The page after the form, and texts that it shows. */
  readonly next: "/" | "/register" | "/account";
  readonly shows: readonly string[];
  readonly isSignedIn: boolean;
}

const FORM = {
  register: { page: "/register", button: "Create account" },
  login: { page: "/", button: "Sign in" },
  logout: { page: "/account", button: "Sign out" },
} as const;

const REFUSED = { isSignedIn: false, next: "/register" } as const;
const WRONG = { isSignedIn: false, next: "/", result: false, shows: ["Unknown email or wrong password."] } as const;
const SIGNED_IN = { isSignedIn: true, next: "/account", result: true, shows: [NAME] } as const;
const NO_ADDRESS = "Enter an email address, with an @ in it.";
const SHORT = "Choose a password of at least 8 characters.";
const TAKEN = "That email address is registered already.";

/** The rows that run in Chromium in `npm test`: of each function, one that succeeds, and one that shows an error, if it has any. */
const IN_CHROMIUM: readonly string[] = [
  "register starts a session",
  "register refuses both at once",
  "login returns false for a wrong password",
  "login starts a session",
  "logout clears the session",
];

const register = (more: object) => (email: string) => ({ email, name: NAME, password: PASSWORD, ...more });

const ROWS: readonly Row[] = (
  [
    { name: "register starts a session", fn: "register", user: "new", args: register({}), ...SIGNED_IN },
    {
      ...{ name: "register trims the address, and makes it lower-case", fn: "register", user: "new", ...SIGNED_IN },
      args: (email) => register({ email: `  ${email.toUpperCase()} ` })(email),
    },
    {
      ...{ name: "register takes a password of 8 characters", fn: "register", user: "new", ...SIGNED_IN },
      args: register({ password: "12345678" }),
    },
    {
      ...{ name: "register refuses an address without @", fn: "register", user: "new", ...REFUSED },
      ...{ args: register({ email: "ada" }), error: [422, "validation_error"], shows: [NO_ADDRESS] },
    },
    {
      ...{ name: "register refuses a password of 7 characters", fn: "register", user: "new", ...REFUSED },
      ...{ args: register({ password: "1234567" }), error: [422, "validation_error"], shows: [SHORT] },
    },
    {
      ...{ name: "register refuses both at once", fn: "register", user: "new", ...REFUSED },
      ...{
        args: register({ email: "ada", password: "" }),
        error: [422, "validation_error"],
        shows: [NO_ADDRESS, SHORT],
      },
    },
    {
      ...{ name: "register refuses an address that is registered", fn: "register", user: "registered", ...REFUSED },
      ...{ args: (email) => register({ email: email.toUpperCase() })(email), error: [409, "conflict"], shows: [TAKEN] },
    },
    {
      ...{ name: "login returns false for an unknown address", fn: "login", user: "new", ...WRONG },
      args: (email) => ({ email, password: PASSWORD }),
    },
    {
      ...{ name: "login returns false for a wrong password", fn: "login", user: "registered", ...WRONG },
      args: (email) => ({ email, password: "difference engine" }),
    },
    {
      ...{ name: "login starts a session", fn: "login", user: "registered", ...SIGNED_IN },
      args: (email) => ({ email, password: PASSWORD }),
    },
    {
      ...{ name: "logout clears the session", fn: "logout", user: "signed in", result: null },
      ...{ next: "/", shows: ["Sign in"], isSignedIn: false },
    },
  ] satisfies readonly Omit<Row, "page" | "button">[]
).map((row) => ({ ...row, ...FORM[row.fn] }));

describe("the accounts example", () => {
  let app: AccountsApp;
  let numUsers = 0;

  beforeAll(async () => {
    app = await AccountsApp.open({ WEB_TRUST_PROXY: "1" });
  });

  afterEach(async () => {
    expect(await app.clear()).toEqual([]);
  });

  afterAll(() => app?.close());

  /** Returns a user who has done what a row requires. Each has an address of their own, since the rate is that of an address. */
  async function newUser(before: Row["user"]): Promise<AccountsUser> {
    const user = new AccountsUser(app.address, ++numUsers);
    if (before === "new") return user;
    expect(await user.call("register", { email: user.email, name: NAME, password: PASSWORD })).toMatchObject({
      status: 200,
    });
    if (before === "registered") user.cookies.clear();
    return user;
  }

  /** Returns an empty page of a user in Chromium. */
  async function openTab(user: AccountsUser, options?: BrowserContextOptions): Promise<Page> {
    const tab = await app.users.reusePage(options);
    await tab.context().setExtraHTTPHeaders(user.headers);
    await tab.context().addCookies(user.browserCookies());
    return tab;
  }

  describe.each(ROWS)(
    "$name",
    ({ name, fn, user: before, args, result, error, page, button, next, shows, isSignedIn }) => {
      const expectSession = async (user: AccountsUser) => {
        const { status, location, text } = await user.get("/account");
        if (!isSignedIn) return expect([status, location]).toEqual([303, "/"]);
        expect(status).toBe(200);
        for (const shown of [NAME, user.email, "Sign out"]) expect(text).toContain(shown);
      };

      it("by a call", async () => {
        const user = await newUser(before);
        const { status, body } = await user.call(fn, args?.(user.email) ?? {});
        if (error) {
          const message = shows.join(" ");
          expect([status, body]).toMatchObject([error[0], { error: { code: error[1], message } }]);
        } else {
          expect([status, body]).toEqual([200, { result }]);
        }
        await expectSession(user);
      });

      it("by a form", async () => {
        const user = await newUser(before);
        const { path, status, text } = await user.send(fn, page, args?.(user.email) ?? {});
        expect([path, status]).toEqual([next, error?.[0] ?? 200]);
        for (const shown of shows) expect(text).toContain(shown);
        await expectSession(user);
      });

      it.each(IS_MATRIX || IN_CHROMIUM.includes(name) ? SCRIPTING : [])(
        "in Chromium, %s",
        async (_, { javaScriptEnabled }) => {
          const user = await newUser(before);
          const tab = await openTab(user, { javaScriptEnabled });
          await tab.goto(page);
          await fillUnchecked(tab, args?.(user.email) ?? {});
          await tab.getByRole("button", { name: button, exact: true }).click();
          await tab.waitForURL(
            (url) => url.pathname === next && (url.search === "" || url.search.startsWith("?__form=")),
          );
          for (const shown of shows) await tab.getByText(shown, { exact: true }).first().waitFor();
          await tab.goto("/account");
          expect(new URL(tab.url()).pathname + new URL(tab.url()).search).toBe(isSignedIn ? "/account" : "/");
          if (isSignedIn) expect(await tab.locator("dd").allTextContents()).toEqual([NAME, user.email]);
        },
      );
    },
  );

  describe.each([
    ["/", "new", 200, null, ["Email address", "Password"]],
    ["/", "signed in", 303, "/account", []],
    ["/register", "new", 200, null, ["Name", "Email address", "Password"]],
    ["/account", "new", 303, "/", []],
    ["/account", "signed in", 200, null, [NAME, "Sign out"]],
  ] as const)("the page %s, for a user who is %s", (path, before, status, location, shows) => {
    it("by a request", async () => {
      const user = await newUser(before);
      const response = await user.get(path);
      expect([response.status, response.location]).toEqual([status, location]);
      for (const shown of shows) expect(response.text).toContain(shown);
    });

    it("in Chromium", async () => {
      const user = await newUser(before);
      const tab = await openTab(user);
      await tab.goto(path);
      expect(tab.url()).toBe(`${app.address}${location ?? path}`);
    });
  });

  it.each([
    ["a user who is signed out", "new", 401, "unauthenticated"],
    ["a user without the role", "signed in", 403, "forbidden"],
  ] as const)("admin_report is refused to %s", async (_, before, status, code) => {
    const user = await newUser(before);
    const called = await user.call("admin_report", {});
    const sent = await user.post("/__web/form/admin_report", {});
    for (const response of [called, { status: sent.status, body: JSON.parse(sent.text) }]) {
      expect(response).toMatchObject({ status, body: { error: { code } } });
    }
    // The page that shows the report: users who are signed out are redirected to the sign-in page.
    const shown = await user.get("/admin");
    expect([shown.status, shown.location]).toEqual(status === 401 ? [303, "/?next=%2Fadmin"] : [status, null]);
  });
});

/** Fills in fields by name, without the checks of the browser, so that the server receives what is in the table. */
async function fillUnchecked(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  await page.locator("main form").evaluate((form: HTMLFormElement) => form.setAttribute("novalidate", ""));
  for (const [name, value] of Object.entries(values)) await page.fill(`[name=${name}]`, value);
}
