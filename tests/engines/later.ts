/**
 * Scenarios of pages whose parts follow: in their places by the browser itself, or by the script.
 */
import { afterAll, beforeAll, describe, expect } from "vitest";
import { LATER_APP, PLACES } from "#test/later-app";
import { type RunningServer, startBuilt } from "#test/run-tsweb";
import { buildOnce } from "#test/shared-builds";
import { TestProject } from "#test/test-project";
import type { Scenarios } from "./each-engine.ts";

let server: RunningServer;

/** Serves the pages to all engines. */
export function useLaterPages(): void {
  let project: TestProject;

  beforeAll(async () => {
    project = TestProject.fromFiles(LATER_APP);
    await buildOnce(project.dir, "later");
    server = await startBuilt(project.dir, { WEB_AUTH_SECRET: SECRET });
  });

  afterAll(async () => {
    await server?.stop();
    project?.remove();
  });
}

export function laterScenarios({ scenario, essential }: Scenarios): void {
  describe("pages with parts", () => {
    /** Makes a part ready, once it waits. */
    async function release(part: string): Promise<void> {
      await expect
        .poll(async () => (await fetch(`${server.address}/release/${part}`)).json(), { timeout: 20_000 })
        .toEqual({ found: true });
    }

    essential("puts parts into their places in any order, and starts their views", async (newContext) => {
      const page = await (await newContext()).newPage();
      const loaded = page.open(`${server.address}/views`);
      for (const part of ["two", "inner", "one"]) await release(part);
      await loaded;
      for (const id of ["shell", "one", "two", "inner"]) await page.click(`#${id}[data-alive=true]`);
      await page.until(() => document.querySelector("main")?.textContent === "shell 1styledone 1two 1inner 1");
      expect(await page.evaluate(() => getComputedStyle(document.querySelector(".styled") as Element).color)).toBe(
        "rgb(1, 2, 3)",
      );
      expect(await page.evaluate(() => document.querySelectorAll("template:not([for$=refresh]), em").length)).toBe(0);
    });

    scenario("puts rows into a table", async (newContext) => {
      const page = await (await newContext()).newPage();
      const loaded = page.open(`${server.address}/table`);
      await release("rows");
      await release("text");
      await loaded;
      await page.until(() => document.querySelectorAll("tbody > tr").length === 3);
      expect(await page.evaluate(() => document.querySelector("tbody")?.textContent)).toBe("firstrow 1row 2");
    });

    scenario("puts parts into lists of options, tables and an image", async (newContext) => {
      const page = await (await newContext()).newPage();
      await page.open(`${server.address}/places`);
      await page.until(() => document.querySelectorAll("template:not([for$=refresh])").length === 0);
      const html = await page.evaluate(() => [
        document.querySelector("main")?.innerHTML.replace(/=""|"/g, ""),
        document.querySelector("select")?.value,
        document.querySelector("i")?.namespaceURI,
      ]);
      expect(html).toEqual([PLACES, "b", "http://www.w3.org/1999/xhtml"]);
    });

    scenario("shows the whole page with script off", async (newContext) => {
      const page = await (await newContext({ isScriptOn: false })).newPage();
      const loaded = page.open(`${server.address}/table`);
      const isOver = page.until(
        () => document.querySelectorAll(".row").length === 2 && !!document.querySelector("#text"),
      );
      // A browser without the feature requests the page again.
      const releasing = setInterval(() => {
        for (const part of ["rows", "text"]) void fetch(`${server.address}/release/${part}`);
      }, 100);
      await isOver.finally(() => clearInterval(releasing));
      await loaded;
    });
  });
}

const SECRET = "7c0d1f5a9b3e8d24c6a1f07e5b92d3486af1c0e27d9b4538ea61f2c70d8b9e35";
