/**
 * Scenarios of forms, views, streams, uploads, redirects and live updates.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { Scenarios } from "./each-engine.ts";
import type { EngineContext, EnginePage } from "./engine.ts";
import { ScenarioApp } from "./scenario-app.ts";

let app: ScenarioApp;
let file: string;

/** Serves the pages to all engines, and writes the file that they upload. */
export function usePages(): void {
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tsweb-engines-"));
    file = join(folder, "photo ö.txt");
    writeFileSync(file, "x".repeat(100_000));
    app = await ScenarioApp.open();
  });

  afterAll(async () => {
    await app?.close();
    rmSync(folder, { recursive: true });
  });
}

export function pageScenarios({ scenario, essential }: Scenarios): void {
  describe("pages", () => {
    /** Opens a page in a new tab. With script, waits until its view is alive. */
    async function visit(context: EngineContext, path: string, hasView = true): Promise<EnginePage> {
      const page = await context.newPage();
      await page.open(app.address + path);
      if (hasView) await page.until(() => document.documentElement.dataset.ready === "yes");
      return page;
    }

    const untilText = (page: EnginePage, selector: string, text: string) =>
      page.until((selector, text) => document.querySelector(selector)?.textContent === text, selector, text);

    /** Fills the form of `/form` or `/view-form`, and sends it. */
    async function save(page: EnginePage, text: string): Promise<void> {
      await page.type("#text", text);
      await page.type("#note", "é <b>");
      await page.evaluate(() => {
        const select = document.querySelector<HTMLSelectElement>("#color");
        if (select) select.value = "blue";
      });
      await page.click("#agree");
      await page.click("#save");
    }

    for (const [path, isScriptOn] of [
      ["/form", true],
      ["/form", false],
      ["/view-form", true],
      ["/view-form", false],
    ] as const) {
      const variant = `${path} with script ${isScriptOn ? "on" : "off"}`;
      const hasView = isScriptOn && path === "/view-form";
      const declare = path === "/view-form" && isScriptOn ? essential : scenario;

      declare(`passes the fields of a form, ${variant}`, async (newContext) => {
        const page = await visit(await newContext({ isScriptOn }), path, hasView);
        await save(page, "Ada");
        await untilText(page, "output", "saved Ada|é <b>|blue|true");
      });

      scenario(`keeps what was typed in a refused form, ${variant}`, async (newContext) => {
        const page = await visit(await newContext({ isScriptOn }), path, hasView);
        await save(page, "refuse");
        await untilText(page, "output", "Refused.");
        expect(
          await page.evaluate(() =>
            ["#text", "#note", "#color"].map((id) => document.querySelector<HTMLInputElement>(id)?.value),
          ),
        ).toEqual(["refuse", "é <b>", "blue"]);
        expect(await page.evaluate(() => document.querySelector<HTMLInputElement>("#agree")?.checked)).toBe(true);
      });
    }

    scenario("sends a form with Enter", async (newContext) => {
      const page = await visit(await newContext(), "/view-form");
      await page.type("#text", "Ada\n");
      await untilText(page, "output", "saved Ada||red|false");
    });

    scenario("keeps what was typed before the script has loaded", async (newContext) => {
      const release = app.holdScripts();
      const page = await (await newContext()).newPage();
      const opened = page.open(`${app.address}/counter`);
      await page.until(() => location.pathname === "/counter" && !!document.querySelector("#text"));
      await page.type("#text", "early");
      release();
      await opened;
      await page.until(() => document.documentElement.dataset.ready === "yes");
      expect(await page.evaluate(() => document.querySelector<HTMLInputElement>("#text")?.value)).toBe("early");
      await page.type("#text", "later");
      await untilText(page, "#echo", "later");
    });

    scenario("updates a view after clicks and keys", async (newContext) => {
      const page = await visit(await newContext(), "/counter");
      await page.click("#add");
      await page.click("#add");
      await untilText(page, "#add", "2");
      await page.type("#text", "Größe");
      await untilText(page, "#echo", "Größe");
      await page.click("#push");
      await page.click("#push");
      await untilText(page, "ul", "item0item1");
    });

    scenario("shows the message of a call that was refused", async (newContext) => {
      const page = await visit(await newContext(), "/counter");
      await page.click("#fail");
      await untilText(page, "#message", "Not here.");
    });

    scenario("follows the redirect of a call", async (newContext) => {
      const page = await visit(await newContext(), "/counter");
      await page.click("#leave");
      await page.untilPath("/done");
    });

    for (const isScriptOn of [true, false]) {
      scenario(`follows the redirect of a form, with script ${isScriptOn ? "on" : "off"}`, async (newContext) => {
        const page = await visit(await newContext({ isScriptOn }), "/leave", false);
        await page.click("#leave");
        await page.untilPath("/done");
        expect(await page.evaluate(() => location.search)).toBe("?from=leave");
      });

      scenario(`uploads a file, with script ${isScriptOn ? "on" : "off"}`, async (newContext) => {
        const page = await visit(await newContext({ isScriptOn }), "/upload", false);
        await page.chooseFile("#file", file);
        await page.click("#send");
        await untilText(page, "output", "photo ö.txt 100000");
      });
    }

    scenario("follows the redirect of a page", async (newContext) => {
      const page = await visit(await newContext(), "/moved", false);
      expect(await page.evaluate(() => location.pathname + location.search)).toBe("/done?from=moved");
    });

    scenario("uploads a file from a view", async (newContext) => {
      const page = await visit(await newContext(), "/view-upload");
      await page.chooseFile("#file", file);
      await page.click("#send");
      await untilText(page, "output", "photo ö.txt 100000");
    });

    scenario("shows a page with a view again on Back, and its view works", async (newContext) => {
      const page = await visit(await newContext(), "/counter");
      await page.click("#add");
      await page.click("#away");
      await page.untilPath("/done");
      await page.backTo("/counter");
      await page.until(() => document.documentElement.dataset.ready === "yes");
      const before = Number(await page.evaluate(() => document.querySelector("#add")?.textContent ?? ""));
      await page.click("#add");
      await untilText(page, "#add", String(before + 1));
    });

    scenario("reads a stream to its end, and an error part-way", async (newContext) => {
      const page = await visit(await newContext(), "/stream");
      await page.click("#short");
      await untilText(page, "#message", "ended");
      await untilText(page, "#last", "5");
      await page.click("#broken");
      await untilText(page, "#message", "Broken.");
      await untilText(page, "#last", "3");
    });

    scenario("shows no error of a stream and a call while the user leaves the page", async (newContext) => {
      const page = await visit(await newContext(), "/stream");
      const before = app.output().length;
      const count = async (name: string) => Number(await app.call(name, {}));
      const calls = await count("open_calls");
      await page.click("#long");
      await page.click("#wait");
      await expect.poll(() => count("open_calls")).toBe(calls + 1);
      const nextPage = app.holdNextPage();
      const clicked = page.click("#late");
      await expect.poll(() => nextPage.isRequested()).toBe(true);
      // Firefox ends the requests of the page, which it shows until the next one arrives. The others continue them.
      const values = await count("streamed_values");
      const isPast = async () => (await count("open_streams")) === 0 || (await count("streamed_values")) > values + 50;
      await expect.poll(isPast).toBe(true);
      nextPage.release();
      await clicked;
      await page.untilPath("/done");
      await expect.poll(() => count("open_streams")).toBe(0);
      expect(await page.evaluate(() => sessionStorage.getItem("errors"))).toBeNull(); // the view stores what it has shown
      const output = app.output().slice(before);
      expect(output.split("The stream of count ended: its client disconnected")).toHaveLength(2);
      expect(output).not.toMatch(/^ +at |on_error/m);
    });

    scenario("repeats a click that was made before the script has loaded once", async (newContext) => {
      const release = app.holdScripts();
      const page = await (await newContext()).newPage();
      const opened = page.open(`${app.address}/counter`);
      await page.until(() => location.pathname === "/counter" && !!document.querySelector("#early"));
      await page.click("#early");
      release();
      await opened;
      await untilText(page, "#early", "1");
      await page.click("#early");
      await untilText(page, "#early", "2");
    });

    scenario("ends a stream on the server when the page cancels it", async (newContext) => {
      const page = await visit(await newContext(), "/stream");
      await page.click("#long");
      await page.until(() => Number(document.querySelector("#last")?.textContent) > 3);
      await page.evaluate(() => (globalThis as unknown as { stop: () => void }).stop()); // the view has set it
      await untilText(page, "#message", "ended");
      await expect.poll(() => app.call("open_streams", {})).toBe(0);
    });

    scenario("ends a stream on the server when the user leaves the page", async (newContext) => {
      const page = await visit(await newContext(), "/stream");
      await page.click("#long");
      await page.until(() => Number(document.querySelector("#last")?.textContent) > 3);
      await page.click("#away");
      await page.untilPath("/done");
      await expect.poll(() => app.call("open_streams", {})).toBe(0);
    });

    scenario("delivers messages to two users", async (newContext) => {
      const one = await visit(await newContext(), "/live");
      const other = await visit(await newContext(), "/live");
      await one.click("#say");
      await untilText(one, "#texts", "hello");
      await untilText(other, "#texts", "hello");
      await app.call("say", { text: "again" });
      await untilText(one, "#texts", "hello,again");
      await untilText(other, "#texts", "hello,again");
    });

    scenario(
      "delivers messages to two tabs over one connection, and to the second one when the first is left",
      async (newContext) => {
        const context = await newContext();
        const one = await visit(context, "/live");
        const other = await visit(context, "/live");
        await app.call("say", { text: "both" });
        for (const page of [one, other]) await untilText(page, "#texts", "both");
        await expect.poll(() => app.openEventStreams).toBe(1);
        await one.open(`${app.address}/done`);
        await app.call("say", { text: "again" });
        await untilText(other, "#texts", "both,again");
      },
    );

    scenario("receives messages by polls behind a proxy that refuses event streams", async (newContext) => {
      app.refusesStreams = true;
      try {
        const page = await visit(await newContext(), "/live");
        await app.call("say", { text: "polled" });
        await untilText(page, "#texts", "polled");
      } finally {
        app.refusesStreams = false;
      }
    });

    scenario("receives messages again after its server was killed", async (newContext) => {
      const page = await visit(await newContext(), "/live");
      await app.call("say", { text: "before" });
      await untilText(page, "#texts", "before");
      await app.replaceServer();
      // The new process has lost the history in memory: the page is told of the gap, and reloads.
      await page.until(
        (address) =>
          performance.getEntriesByType("navigation").length === 1 &&
          location.href.startsWith(address) &&
          !document.querySelector("#texts")?.textContent,
        app.address,
      );
      await page.until(() => document.documentElement.dataset.ready === "yes");
      await app.call("say", { text: "after" });
      await untilText(page, "#texts", "after");
    });
  });
}
