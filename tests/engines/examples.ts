/**
 * Scenarios of the other examples: a card that is dragged on the board, and the chat of two users.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { copyExample } from "#test/copy-example";
import { fasterHashing } from "#test/faster-hashing";
import { type RunningServer, startBuilt } from "#test/run-tsweb";
import { buildOnce } from "#test/shared-builds";
import { BOARD_PACKAGES } from "../browser/board-app.ts";
import type { Scenarios } from "./each-engine.ts";
import type { EngineContext, EnginePage } from "./engine.ts";

export function exampleScenarios({ scenario }: Scenarios): void {
  describe("the board example", () => {
    const { address } = serve("board", BOARD_PACKAGES, (dir) => ({ BOARD_DATA: join(dir, "data") }));

    scenario("moves a card that is dragged to another column, also after a reload", async (newContext) => {
      const page = await (await newContext()).newPage();
      await page.open(`${address()}/sign-up`);
      await page.type("main [name=name]", "Ada");
      await page.type("main [name=email]", `ada-${randomBytes(4).toString("hex")}@team.example`);
      await page.type("main [name=password]", "correct horse\n");
      await page.untilPath("/");
      await page.type("main [name=name]", "Plan\n");
      await page.until(() => location.pathname.startsWith("/boards/"));
      await page.type(".column:nth-of-type(1) [name=title]", "Engine\n");
      await page.until(() => document.querySelector(".column:nth-of-type(1) li .title")?.textContent === "Engine");
      await page.drag(".column:nth-of-type(1) li .title", ".column:nth-of-type(2)");
      await page.until(() => document.querySelector(".column:nth-of-type(2) li .title")?.textContent === "Engine");
      await page.open(await page.evaluate(() => location.href));
      expect(await page.evaluate(() => document.querySelector(".column:nth-of-type(2) li .title")?.textContent)).toBe(
        "Engine",
      );
    });
  });

  describe("the chat example", () => {
    const { address } = serve("chat", ["tsweb", "@libsql/client"], (dir) => ({
      CHAT_DATABASE_URL: `file:${join(dir, "chat.db")}`,
    }));

    async function enter(context: EngineContext, name: string): Promise<EnginePage> {
      const page = await context.newPage();
      await page.open(address());
      await page.type("#name", `${name}\n`);
      await page.untilPath("/room");
      await page.until(() => !document.querySelector("#ask")?.matches(":disabled"));
      return page;
    }

    scenario("shows the messages of two users to both", async (newContext) => {
      const name = () => `User ${randomBytes(4).toString("hex")}`;
      const one = await enter(await newContext(), name());
      const other = await enter(await newContext(), name());
      await one.type("#text", "Hello from one\n");
      await other.untilText("Hello from one");
      await other.type("#text", "Hello from the other\n");
      await one.untilText("Hello from the other");
    });
  });
}

/** Serves an example during the scenarios of a group. */
function serve(name: string, packages: readonly string[], env: (dir: string) => Readonly<Record<string, string>>) {
  const copy = copyExample(name, packages);
  let running: RunningServer;

  beforeAll(async () => {
    await buildOnce(copy.dir, name);
    const secret = { WEB_AUTH_SECRET: randomBytes(32).toString("hex"), ...fasterHashing() };
    running = await startBuilt(copy.dir, { ...secret, ...env(copy.dir) });
  });

  afterAll(async () => {
    expect(await running?.stop()).toBe(0);
    copy.remove();
  });

  return { address: () => running.address };
}
