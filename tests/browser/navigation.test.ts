/**
 * Pages that Chromium requests before their link is clicked, by the speculation rules of the application: the tests compare what is
 * shown. Views that are hydrated late. @see docs/navigation.md and docs/protocol.md 11.10
 */
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import { startBack, withFullBrowser } from "./chromium.ts";
import { countLoads, expectLateHydration, isHydrated } from "./late-views.ts";
import { buildShop } from "./navigation-app.ts";
import { serveInBrowser } from "./site-app.ts";

const app = serveInBrowser(buildShop);
let page: Page;

beforeEach(async () => {
  page = app.page;
  await page.goto("/shop/");
  await isReady();
});

const isReady = (tab = page) => tab.locator("html[data-ready=yes]").waitFor({ state: "attached" });
const renders = async () =>
  (await (await fetch(`${app.running.address}/shop/renders`)).json()) as Record<string, number>;
const shown = () => page.textContent("#value");
const deliveryType = () =>
  page.evaluate(
    () =>
      (performance.getEntriesByType("navigation")[0] as PerformanceResourceTiming & { deliveryType: string })
        .deliveryType,
  );

const renderedOnce = (name: string, before: number) =>
  expect.poll(async () => (await renders())[name], { timeout: 5_000 }).toBe(before + 1);

/** Rests the pointer on a link until its page was prefetched. */
async function prefetch(id: string, name = id): Promise<void> {
  const before = (await renders())[name] ?? 0;
  await page.mouse.move(0, 0);
  await page.hover(`#${id}`);
  await renderedOnce(name, before);
}

async function click(id: string, path: string): Promise<void> {
  await page.click(`#${id}`);
  await page.waitForURL(`**${path}`);
}

/** Waits until the view has got the responses to a number of calls. */
const isDone = (tab: Page, count: number) => tab.locator(`#done:text-is("${count}")`).waitFor();

/** Calls a function by its button, and returns the header with which its response clears prefetched pages. */
async function callOn(id: string): Promise<string | null> {
  const done = Number(await page.textContent("#done"));
  const [response] = await Promise.all([page.waitForResponse(/\/rpc\//), page.click(`#${id}`)]);
  await isDone(page, done + 1);
  return response.headerValue("clear-site-data");
}

describe("a link on which the pointer rests", () => {
  it("shows its page at the click without a request", async () => {
    await prefetch("board", "1");
    const before = await renders();
    await click("board", "/boards/1");
    expect(await deliveryType()).toBe("navigational-prefetch");
    expect(await page.textContent("#prefetch")).toBe("true");
    expect(await renders()).toEqual(before);
  });

  it("is not prefetched if it leads to a route or a page that is left out, or has an attribute or a parameter against it", async () => {
    const before = await renders();
    for (const id of ["export", "left", "nofollow", "target", "download", "reserved"]) {
      await page.hover(`#${id}`);
      await page.waitForTimeout(400); // twice as long as a pointer has to rest
    }
    await prefetch("board", "1");
    expect(await renders()).toEqual({ ...before, 1: (before[1] ?? 0) + 1 });
    await click("left", "/left");
    expect(await deliveryType()).toBe("");
  });

  it.each(["cookie", "login", "publish"])(
    "does not prefetch a page with the effect %s: the click does it",
    async (kind) => {
      const listener = await app.users.reusePage();
      await listener.goto("/shop/room");
      const [response] = await Promise.all([
        page.waitForEvent("requestfinished", (request) => request.url().endsWith(`/effects/${kind}`)),
        page.hover(`#${kind}`),
      ]);
      expect((await response.response())?.status()).toBe(503);
      expect(await page.context().cookies()).toEqual([]);
      const before = await renders();
      await click(kind, `/effects/${kind}`);
      expect(await deliveryType()).toBe("");
      expect((await renders())[kind]).toBe((before[kind] ?? 0) + 1);
      if (kind === "publish") await expect.poll(() => listener.textContent("#messages")).toBe("seen");
      else expect(await page.context().cookies()).toHaveLength(1);
    },
  );

  it("shows what was published since it was prefetched", async () => {
    await Promise.all([
      page.waitForEvent("requestfinished", (request) => request.url().endsWith("/room")),
      page.hover("#room"),
    ]);
    await fetch(`${app.running.address}/shop/__web/rpc/say`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"args":{"text":"meanwhile"}}',
    });
    await click("room", "/room");
    expect(await deliveryType()).toBe("navigational-prefetch");
    await expect.poll(() => page.textContent("#messages")).toBe("meanwhile");
  });
});

describe("a prefetched page", () => {
  it("is not shown after a call, and only the first call of a signed-in user clears it", async () => {
    await callOn("enter");
    await page.goto("/shop/");
    await isReady();
    await prefetch("board", "1");
    const before = Number(await shown());
    expect(await callOn("count")).toBeNull();
    expect(await callOn("change")).toBe('"prefetchCache"');
    expect(await callOn("change")).toBeNull();
    await click("board", "/boards/1");
    expect(await shown()).toBe(String(before + 2));
  });

  it("prints one line in the console for any number of calls of a signed-in user, in all tabs together", async () => {
    await callOn("enter");
    await page.goto("/shop/");
    await isReady();
    const lines: string[] = [];
    const record = (tab: Page) =>
      tab.on("console", (message) => {
        if (message.text().includes("Clear-Site-Data")) lines.push(message.text());
      });
    const other = await page.context().newPage();
    [page, other].forEach(record);
    await other.goto("/shop/");
    await isReady(other);
    const call = async (tab: Page) => {
      const done = Number(await tab.textContent("#done"));
      await tab.click("#change");
      await isDone(tab, done + 1);
    };
    const callInBoth = async () => {
      for (let count = 0; count < 4; count++) await call(count % 2 === 0 ? page : other);
    };
    await callInBoth(); // the sign-in has cleared what was prefetched before
    expect(lines).toEqual([]);
    for (let round = 1; round <= 2; round++) {
      await page.bringToFront(); // a pointer rests only on what is shown
      await prefetch("board", "1");
      await callInBoth();
      expect(lines).toHaveLength(round);
    }
  });

  it("is not shown after a call, if it was still being rendered", async () => {
    await prefetch("slow");
    const before = Number(await shown());
    expect(await callOn("change")).toBe('"prefetchCache"');
    await click("slow", "/slow");
    expect(await shown()).toBe(String(before + 1));
  });

  it("is not shown after a sign-in and a sign-out [PREFETCH-4]", async () => {
    await prefetch("board", "1");
    expect(await callOn("enter")).toBe('"prefetchCache"');
    await prefetch("board", "1");
    await click("board", "/boards/1");
    expect([await page.textContent("#who"), await deliveryType()]).toEqual(["ada", "navigational-prefetch"]);
    await page.goto("/shop/");
    await isReady();
    await prefetch("board", "1");
    expect(await callOn("leave")).toBe('"prefetchCache"');
    await click("board", "/boards/1");
    expect(await page.textContent("#who")).toBe("nobody");
  });

  it("is not shown after a form without script", async () => {
    await page.goto("/shop/plain");
    const before = Number(await shown());
    await prefetch("board", "1");
    await click("send", "/?text=x");
    expect(await shown()).toBe(String(before + 1));
    await click("board", "/boards/1");
    expect(await shown()).toBe(String(before + 1));
  });

  it("is cleared without the pages that the browser keeps for Back", () =>
    withFullBrowser({ baseURL: app.running.address }, async (users) => {
      page = await users.newPage();
      await page.goto("/shop/");
      await isReady();
      await page.evaluate(() =>
        addEventListener("pageshow", ({ persisted }) => Object.assign(globalThis, { persisted })),
      );
      await prefetch("board", "1");
      expect(await callOn("change")).toBe('"prefetchCache"');
      await click("plain", "/plain");
      await startBack(page);
      await expect.poll(() => page.evaluate("globalThis.persisted")).toBe(true);
    }));
});

describe("the style sheet of transitions", () => {
  it("makes a click a transition, unless the user prefers reduced motion", async () => {
    page = await app.users.newPage({ reducedMotion: "no-preference" }); // the script stays with the page
    await page.addInitScript(() =>
      addEventListener("pagereveal", (event) =>
        Object.assign(globalThis, {
          isTransition: (event as Event & { viewTransition: unknown }).viewTransition !== null,
        }),
      ),
    );
    const isTransition = () => page.evaluate(() => (globalThis as { isTransition?: boolean }).isTransition);
    await page.goto("/shop/");
    await isReady();
    await click("plain", "/plain");
    await expect.poll(isTransition).toBe(true);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await click("board", "/boards/1");
    await expect.poll(isTransition).toBe(false);
  });
});

describe("a view below the fold", () => {
  it("is hydrated when it comes near the screen: its script is loaded then, and it keeps its props", () =>
    expectLateHydration(page, "/shop/views"));

  it("costs nothing on a page whose views are hydrated at once", async () => {
    const loads = countLoads(page);
    await page.goto("/shop/views/now");
    await isHydrated(page, "now");
    expect(loads("deferred")).toBe(0);
    expect(await page.content()).not.toContain("deferred");
  });
});
