/**
 * Scenarios of links: pages before the click, transitions, and Back. What an engine does not have must change nothing else.
 */
import { afterAll, beforeAll, describe, expect } from "vitest";
import { type RunningServer, startBuilt } from "#test/run-tsweb";
import { buildOnce } from "#test/shared-builds";
import { TestProject } from "#test/test-project";
import type { Scenarios } from "./each-engine.ts";

const SECRET = "2d4b7f90c1e85a36bd0279e4f1a8c35d6e9b04782fc1d3a59e60b7482c1f9d05";

const FILES = {
  "src/app.ts": `
    import { App } from "tsweb";
    import * as pages from "./pages.server.tsx";
    export default new App({ title: "Links", modules: [pages], rate: false, transitions: true });`,
  "src/pages.server.tsx": `
    import { page, request, route } from "tsweb";
    const requests: string[] = [];
    export const home = page("/", () => <main>home <a id="next" href={next.href()}>next</a></main>);
    export const next = page("/next", () => {
      requests.push(request.prefetch ? "prefetch" : "click");
      return <main>next page</main>;
    });
    export const seen = route("GET /seen", () => Response.json(requests.splice(0)));`,
};

export function navigationScenarios({ scenario }: Scenarios): void {
  describe("links", () => {
    let project: TestProject;
    let server: RunningServer;
    const seen = async () => (await (await fetch(`${server.address}/seen`)).json()) as string[];

    beforeAll(async () => {
      project = TestProject.fromFiles(FILES);
      project.write("public/favicon.ico", "");
      await buildOnce(project.dir, "engines-navigation");
      server = await startBuilt(project.dir, { WEB_AUTH_SECRET: SECRET });
    });

    afterAll(async () => {
      await server?.stop();
      project?.remove();
    });

    scenario(
      "requests a page when the pointer rests on its link, or else at the click, and once",
      async (newContext) => {
        const page = await (await newContext({ hasTransitions: true })).newPage();
        await page.open(`${server.address}/`);
        await seen();
        const hasRules = await page.evaluate(() => HTMLScriptElement.supports?.("speculationrules") ?? false);
        await page.hover("#next");
        if (hasRules) await expect.poll(seen, { timeout: 20_000 }).toEqual(["prefetch"]);
        await page.click("#next");
        await page.untilPath("/next");
        expect(await page.text()).toContain("next page");
        expect(await seen()).toEqual(hasRules ? [] : ["click"]);
      },
    );

    scenario("fades from page to page where the engine has transitions between documents", async (newContext) => {
      const page = await (await newContext({ hasTransitions: true })).newPage();
      await page.open(`${server.address}/`);
      const hasTransitions = await page.evaluate(() => {
        addEventListener("pageswap", (event) => {
          sessionStorage.setItem("transition", String("viewTransition" in event && event.viewTransition !== null));
        });
        return "CSSViewTransitionRule" in window;
      });
      await page.click("#next");
      await page.untilPath("/next");
      expect(await page.evaluate(() => sessionStorage.getItem("transition") ?? "false")).toBe(String(hasTransitions));
    });

    scenario(
      "shows the page on Back as it was left, but in Firefox, which keeps no page that is no-store",
      async (newContext) => {
        const page = await (await newContext({ hasTransitions: true })).newPage();
        await page.open(`${server.address}/next`);
        await page.evaluate(() => (document.documentElement.dataset.left = "yes"));
        await page.open(`${server.address}/`);
        await seen();
        await page.backTo("/next");
        expect(await page.text()).toContain("next page");
        const isKept = await page.evaluate(() => !navigator.userAgent.includes("Firefox"));
        expect(await page.evaluate(() => document.documentElement.dataset.left === "yes")).toBe(isKept);
        expect(await seen()).toEqual(isKept ? [] : ["click"]);
      },
    );
  });
}
