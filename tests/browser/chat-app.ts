/**
 * The chat example, running, with its database and users in a browser, for one test file.
 */
import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { copyExample, type ExampleCopy } from "#test/copy-example";
import { type Environment, type RunningServer, startBuilt, startDev } from "#test/run-tsweb";
import { buildOnce } from "#test/shared-builds";
import { launch } from "./chromium.ts";

/** The client of the example's database. It is loaded from the example, because it is the example's dependency. */
const DATABASE = "@libsql/client";

/** How the example is run: by the development server, or built. */
export const MODES = ["dev", "built"] as const;

/** The methods of the database client that are used here. */
interface Database {
  execute(statement: {
    readonly sql: string;
    readonly args: readonly unknown[];
  }): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>;
  close(): void;
}

/** The running example. */
export class ChatApp {
  readonly users: BrowserUsers;
  /** The names of the users who have entered, and their browser contexts. */
  readonly #entered: { readonly name: string; readonly context: BrowserContext }[] = [];
  readonly #mode: (typeof MODES)[number];
  readonly #copy: ExampleCopy;
  readonly #env: Environment;
  readonly #browser: Browser;
  readonly #database: Database;
  #running: RunningServer;

  private constructor(parts: {
    readonly mode: (typeof MODES)[number];
    readonly copy: ExampleCopy;
    readonly env: Environment;
    readonly browser: Browser;
    readonly running: RunningServer;
  }) {
    this.#mode = parts.mode;
    this.#copy = parts.copy;
    this.#env = parts.env;
    this.#browser = parts.browser;
    this.#running = parts.running;
    this.users = new BrowserUsers(parts.browser, { baseURL: parts.running.address });
    const require = createRequire(join(parts.copy.dir, "package.json"));
    this.#database = require(DATABASE).createClient({ url: parts.env.CHAT_DATABASE_URL, timeout: 5_000 });
  }

  /** Starts a copy of the example. The caller calls {@link close}. */
  static async open(mode: (typeof MODES)[number]): Promise<ChatApp> {
    const copy = copyExample("chat", ["tsweb", DATABASE]);
    const env = {
      CHAT_DATABASE_URL: `file:${join(copy.dir, "chat.db")}`,
      WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
    };
    if (mode === "built") await buildOnce(copy.dir, "chat");
    const running = await start(mode, copy, env);
    const app = new ChatApp({ mode, copy, env, running, browser: await launch() });
    const cookie = await app.signIn("Nobody");
    await app.call("earlier_messages", { before: 1 }, cookie); // the application creates its tables on first use
    await app.clear();
    return app;
  }

  get address(): string {
    return this.#running.address;
  }

  /** Kills the server with SIGKILL. The returned function starts a new one on the same port, with empty memory. */
  async kill(): Promise<{ start(): Promise<void> }> {
    const port = new URL(this.address).port;
    this.#running.signal("SIGKILL");
    await this.#running.exited;
    return {
      start: async () => {
        this.#running = await start(this.#mode, this.#copy, { ...this.#env, PORT: port });
      },
    };
  }

  /** Runs a statement in the application's database. */
  async sql(sql: string, ...args: readonly unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return (await this.#database.execute({ sql, args })).rows;
  }

  /** Opens the room as a new user, who has entered by a call. */
  async enter(name: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.users.reusePage(options);
    const context = page.context();
    this.#entered.push({ name, context });
    const response = await context.request.post("/__web/rpc/enter", { data: { args: { name } } });
    expect(response.status()).toBe(200);
    await page.goto("/room");
    await waitForRoom(page);
    return page;
  }

  /** Signs a user in under a name without a browser. Returns the cookie. Nobody is in the room under that name. */
  async signIn(name: string): Promise<string> {
    const { cookie, ...response } = await this.call("enter", { name });
    expect(response).toEqual({ status: 200, body: { result: null } });
    return cookie;
  }

  /**
   * Closes the pages of all users, who leave, waits until their names are free, and empties the room. Returns the problems that
   * the browser reported. The pages are closed first: with its cookie, one that is open could connect after its user has left.
   */
  async clear(): Promise<string[]> {
    const entered = this.#entered.splice(0);
    const cookies = await Promise.all(entered.map(({ context }) => context.cookies()));
    await this.users.closeAll();
    for (const each of cookies)
      await this.call("leave", {}, each.map(({ name, value }) => `${name}=${value}`).join("; "));
    // The server reads who is present at most ten times a second, so a name can be taken for a moment after its user has left.
    for (const { name } of entered)
      await expect.poll(async () => (await this.call("enter", { name })).status, { message: name }).toBe(200);
    await this.sql("DELETE FROM messages");
    return this.users.problems.splice(0);
  }

  async close(): Promise<void> {
    await this.#browser.close();
    this.#database.close();
    const code = await this.#running.stop();
    this.#copy.remove();
    expect(code).toBe(0);
  }

  /** Calls a server function without a browser. */
  async call(name: string, args: object, cookie = "") {
    const response = await fetch(`${this.address}/__web/rpc/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json", cookie },
      body: JSON.stringify({ args }),
    });
    const [setCookie = ""] = response.headers.getSetCookie();
    return { status: response.status, body: await response.json(), cookie: setCookie.split(";", 1)[0] ?? "" };
  }
}

function start(mode: (typeof MODES)[number], copy: ExampleCopy, env: Environment): Promise<RunningServer> {
  return (mode === "built" ? startBuilt : startDev)(copy.dir, env);
}

/** Waits until the room is hydrated. */
export async function waitForRoom(page: Page): Promise<void> {
  await page.locator("#ask:enabled").waitFor();
}

/** Sends a message, and waits until it is in the room. */
export async function sendMessage(page: Page, text: string): Promise<void> {
  await page.fill("#text", text);
  await page.press("#text", "Enter");
  await messageWithText(page, text.replace(/^\/ask /, "")).waitFor();
}

/** Returns a locator of the message in the room with exactly this text. */
export function messageWithText(page: Page, text: string): Locator {
  return page.locator(".entry.complete .text").getByText(text, { exact: true });
}

/** Returns the texts of all messages on a page. */
export function messageTexts(page: Page): Promise<string[]> {
  return page.locator(".entry .text").allTextContents();
}

/** Returns the names in the list of present users on a page. */
export function peopleNames(page: Page): Promise<string[]> {
  return page.locator(".people li bdi").allTextContents();
}

/** Returns a new message id, in the format of the example. */
export function newId(): string {
  return randomBytes(16).toString("hex");
}
