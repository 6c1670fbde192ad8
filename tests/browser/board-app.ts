/**
 * The board example, running, with users in Chromium, for one test file.
 */
import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { copyExample } from "#test/copy-example";
import { fasterHashing } from "#test/faster-hashing";
import { startBuilt, startDev } from "#test/run-tsweb";
import { buildOnce } from "#test/shared-builds";
import { ExampleApp, startExample } from "./example-app.ts";

/** The packages of the example. */
export const BOARD_PACKAGES = ["tsweb", "@dnd-kit/core", "@libsql/client", "drizzle-orm", "react", "react-dom", "zod"];

/** A PNG of one pixel. */
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);

/** What is used of `@libsql/client`, a package of the example. */
interface LibSQL {
  createClient(options: { readonly url: string }): { execute(sql: string): Promise<unknown>; close(): void };
}

/** The running example. */
export class BoardApp extends ExampleApp {
  /** Starts a copy of the example. The caller calls {@link close}. */
  static async open(mode: "built" | "dev"): Promise<BoardApp> {
    const copy = copyExample("board", BOARD_PACKAGES);
    const started = await startExample(copy, async () => {
      if (mode === "built") await buildOnce(copy.dir, "board");
      return (mode === "built" ? startBuilt : startDev)(copy.dir, {
        BOARD_DATA: join(copy.dir, "data"),
        WEB_AUTH_SECRET: randomBytes(32).toString("hex"),
        ...fasterHashing(),
      });
    });
    return new BoardApp(started);
  }

  /** Runs a statement in the application's database. */
  async sql(sql: string): Promise<void> {
    const requireInCopy = createRequire(join(this.dir, "package.json"));
    const { createClient }: LibSQL = requireInCopy("@libsql/client");
    const database = createClient({ url: `file:${join(this.dir, "data/board.db")}` });
    await database.execute(sql);
    database.close();
  }

  /** Opens the list of boards as a new user, who has signed up by a form without a page. */
  async signUp(name: string): Promise<Page> {
    const page = await this.users.reusePage();
    const email = `${name.toLowerCase()}-${randomBytes(4).toString("hex")}@team.example`;
    const response = await page.context().request.post("/sign-up?__form=sign_up", {
      headers: { origin: this.address },
      multipart: { name, email, password: "correct horse" },
      maxRedirects: 0,
    });
    expect(response.status()).toBe(303);
    await page.goto("/");
    return page;
  }
}

/** Creates a board, and waits until the page shows it. */
export async function createBoard(page: Page, name: string): Promise<void> {
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create a board" }).click();
  await page.waitForURL("**/boards/*");
}

/** Adds a card to a column. */
export async function addCard(page: Page, column: string, title: string): Promise<void> {
  await page.getByLabel(`New card in ${column}`).fill(title);
  await page.getByLabel(`New card in ${column}`).press("Enter");
}

/** Returns a locator of the card with a title in a column. */
export function cardIn(page: Page, column: string, title: string): Locator {
  return page.getByRole("list", { name: column, exact: true }).locator("li", { hasText: title });
}

/** Drags a card onto a column with the mouse. */
export async function dragWithMouse(page: Page, card: Locator, column: string): Promise<void> {
  const from = await card.locator(".title").boundingBox();
  const to = await page
    .locator(".column", { has: page.getByRole("list", { name: column, exact: true }) })
    .boundingBox();
  if (!from || !to) throw new Error("The card or the column is not visible");
  await page.mouse.move(from.x + 10, from.y + 5);
  await page.mouse.down();
  await page.mouse.move(from.x + 30, from.y + 10, { steps: 2 }); // beyond the distance at which a drag starts
  await page.mouse.move(to.x + 30, to.y + 40, { steps: 5 });
  await page.locator(".column.over").waitFor();
  await page.mouse.up();
}

/** Starts to drag the card whose handle has the focus. Keys are ignored until dnd-kit listens, which it does in a timer. */
export async function pickUpFocusedCard(page: Page): Promise<void> {
  await page.keyboard.press("Space");
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve))); // timers run in their order
}
