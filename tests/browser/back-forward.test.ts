/**
 * Pages that the full Chromium keeps for Back: with views, calls, streams and live updates. They take no input before the server
 * has confirmed their sign-in. @see docs/protocol.md 2.6 and 7.10
 */
import type { Page, Route } from "playwright-core";
import { beforeEach, describe, expect, it } from "vitest";
import { serveInBrowser } from "./back-app.ts";
import { startBack } from "./chromium.ts";

const FILES = {
  "src/app.ts": `
    import { App, session } from "tsweb";
    import * as functions from "./functions.server.ts";
    import * as pages from "./pages.server.tsx";
    const app = new App({ title: "Back", modules: [functions, pages], rate: false });
    process.on("SIGUSR2", () => void app.revoke("ada").then(() => console.log("Ada is revoked.")));
    export default app;`,
  "src/functions.server.ts": `
    import { publish, RPCError, server, session } from "tsweb";
    export const enter = server(() => session.login("ada"));
    export const leave = server(() => session.logout());
    export const say = server((text: string) => publish("room", text));
    export const fail = server(() => { throw new RPCError("forbidden", "Not here."); });
    export const count = server(function* () { yield 1; yield 2; });
    export const save = server((text: string) => text);`,
  "src/pages.server.tsx": `
    import { channel, page, session } from "tsweb";
    import { Room } from "./room.tsx";
    const Who = () => <b id="who">{session.user()?.sub ?? "nobody"}</b>;
    export const room = page("/", async () => <main><Who /><Room feed={await channel<string>("room")} /></main>);
    export const plain = page("/plain", () => <main><Who /><a href="/">room</a></main>);`,
  "src/room.tsx": `
    import { type Feed, form, on_mount, state, subscribe, view } from "tsweb/browser";
    import { count, enter, fail, leave, save, say } from "./functions.server.ts";
    export const Room = view(({ feed }: { feed: Feed<string> }) => {
      const room = state({ messages: [] as string[], done: "", clicks: 0 });
      const saving = form(save);
      on_mount(() => subscribe(feed, (message) => room.messages.push(message)));
      on_mount(() => { document.documentElement.dataset.ready = "yes"; });
      const use = async () => {
        await say("hello");
        await fail().catch(() => undefined);
        for await (const n of count()) room.done = String(n);
      };
      return (
        <section>
          <button id="use" type="button" onClick={use}>use</button>
          <button id="enter" type="button" onClick={async () => { await enter(); location.reload(); }}>enter</button>
          <button id="leave" type="button" onClick={async () => { await leave(); location.assign("/plain"); }}>leave</button>
          <button id="click" type="button" onClick={() => room.clicks++}>{room.clicks}</button>
          <input id="draft" />
          <form action={saving}><input name="text" /><button id="save">save</button><i>{saving.result ?? ""}</i></form>
          <p id="done">{room.done}</p>
          <p id="messages">{room.messages.join()}</p>
        </section>
      );
    });`,
};

const app = serveInBrowser(FILES, { fullBrowser: true });
let page: Page;

beforeEach(async () => {
  page = app.page;
  await page.goto("/");
  await isReady();
});

const isReady = () => page.waitForFunction(() => document.documentElement.dataset.ready === "yes");
const textOf = (id: string) => page.textContent(`#${id}`);

/** Marks the page that is shown, so that the same one is recognized, and notes when it was restored. */
const mark = () =>
  page.evaluate(() => {
    Object.assign(globalThis, { isMarked: true });
    addEventListener("pageshow", ({ persisted }) =>
      Object.assign(globalThis, { persisted, restoredAt: performance.now() }),
    );
  });
const isMarked = () => page.evaluate(() => "isMarked" in globalThis).catch(() => null); // null while it is loaded

/** Leaves the page, and goes back to it. */
async function leaveAndReturn(meanwhile = async () => {}): Promise<void> {
  await mark();
  await page.goto("/plain");
  await meanwhile();
  await startBack(page);
}

/** Calls a function as another client. */
async function call(name: string, args: object): Promise<void> {
  const response = await fetch(`${app.running.address}/__web/rpc/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ args }),
  });
  expect(response.status).toBe(200);
}

describe("a page with views", () => {
  it("is kept for Back after calls, an error, a stream, a form and live updates, and is live again with what was missed", async () => {
    await page.click("#use");
    await expect.poll(() => Promise.all([textOf("done"), textOf("messages")])).toEqual(["2", "hello"]);
    await page.fill("[name=text]", "saved");
    await page.click("#save");
    await expect.poll(() => page.textContent("i")).toBe("saved");
    await leaveAndReturn(() => call("say", { text: "meanwhile" }));
    await expect.poll(() => textOf("messages")).toBe("hello,meanwhile");
    expect(await page.evaluate("persisted")).toBe(true);
    await expect.poll(() => page.evaluate(() => document.body.inert)).toBe(false);
    await page.click("#click");
    expect(await textOf("click")).toBe("1");
  });

  it("takes no input when it is restored before the server has answered, and keeps the focus and what was typed", async () => {
    await page.type("#draft", "half");
    let answer = () => {};
    const isRequested = new Promise<void>((requested) => {
      void page.route("**/__web/session", async (route) => {
        const answered = new Promise<void>((resolve) => (answer = resolve));
        requested();
        await answered;
        await route.continue();
      });
    });
    await leaveAndReturn();
    await isRequested;
    expect(await page.evaluate(() => document.body.inert)).toBe(true);
    answer();
    await expect.poll(() => page.evaluate(() => document.body.inert)).toBe(false);
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("draft");
    await page.keyboard.type(" typed");
    expect(await page.inputValue("#draft")).toBe("half typed");
    expect(await isMarked()).toBe(true);
  });

  it("takes no input when it is restored a second time, and the request of the first time fails", async () => {
    const routes: Route[] = [];
    await page.route("**/__web/session", (route) => void routes.push(route));
    await leaveAndReturn();
    await expect.poll(() => routes.length).toBe(1);
    await leaveAndReturn();
    await expect.poll(() => routes.length).toBe(2);
    await routes[0]?.abort().catch(() => undefined); // the browser may have ended it
    expect(await page.evaluate(() => new Promise((resolve) => setTimeout(() => resolve(document.body.inert))))).toBe(
      true,
    );
    await routes[1]?.continue();
    await expect.poll(() => page.evaluate(() => document.body.inert)).toBe(false);
    app.users.problems.splice(0); // the browser reports the request that failed
  });

  it.each([
    ["the server cannot be reached", undefined],
    ["the server has no such path, as an older version", 404],
    ["the server is overloaded", 503],
  ])("is used as it is if %s", async (_, status) => {
    await page.route("**/__web/session", (route) => (status === undefined ? route.abort() : route.fulfill({ status })));
    await leaveAndReturn();
    await expect.poll(() => page.evaluate(() => "persisted" in globalThis && !document.body.inert)).toBe(true);
    expect(await isMarked()).toBe(true);
    app.users.problems.splice(0); // the browser reports the request that failed
  });

  it("is reloaded when its sign-in was revoked meanwhile [BACK-8]", async () => {
    await page.click("#enter");
    await expect.poll(() => textOf("who").catch(() => null)).toBe("ada");
    await isReady();
    await mark();
    await page.goto("about:blank"); // no page of the site, which would make the browser remove the kept ones
    app.running.signal("SIGUSR2");
    await expect.poll(() => app.running.output()).toContain("Ada is revoked.");
    await startBack(page);
    await expect.poll(() => textOf("who").catch(() => null)).toBe("nobody");
    await expect.poll(isMarked).toBe(false);
  });

  it.each(["with", "without"])("shows nothing of the user on Back after a sign-out, %s another tab", async (how) => {
    await page.click("#enter");
    await expect.poll(() => textOf("who").catch(() => null)).toBe("ada");
    await isReady();
    await mark();
    if (how === "without") {
      await page.click("#leave");
      await page.waitForURL("**/plain");
    } else {
      await page.goto("/plain");
      const other = await page.context().newPage();
      await other.goto("/");
      await other.click("#leave");
      await other.waitForURL("**/plain");
      await other.close();
    }
    const shown: (string | null)[] = [];
    await startBack(page);
    await expect
      .poll(async () => {
        const who = await textOf("who").catch(() => null);
        shown.push(who);
        return [who, new URL(page.url()).pathname];
      })
      .toEqual(["nobody", "/"]);
    expect(shown).not.toContain("ada");
  });
});
