/**
 * The chat example in a real browser: who gets in, what they say, and what the room shows of it.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { findFlaws } from "./accounts-actions.ts";
import {
  ChatApp,
  MODES,
  messageTexts,
  messageWithText,
  newId,
  peopleNames,
  sendMessage,
  waitForRoom,
} from "./chat-app.ts";

describe.each(MODES)("the chat example, %s", { timeout: 60_000 }, (mode) => {
  let app: ChatApp;

  beforeAll(async () => {
    app = await ChatApp.open(mode);
  }, 120_000);

  afterEach(async () => {
    expect(await app.clear()).toEqual([]);
  });

  afterAll(() => app?.close());

  it("lets only the signed-in into the room, and leads everybody to where they can be", async () => {
    const signedOut = await fetch(`${app.address}/room`, { redirect: "manual" });
    expect([signedOut.status, signedOut.headers.get("location")]).toEqual([303, "/"]);
    const refused = { status: 401, body: { error: { code: "unauthenticated" } } };
    const message = { id: newId(), text: "Hello" };
    expect(await app.call("say", message)).toMatchObject(refused);
    expect(await app.call("ask", message)).toMatchObject(refused);
    expect(await app.call("earlier", { place: 1 })).toMatchObject(refused);
    expect(await app.call("here", {})).toMatchObject(refused);

    const page = await app.enter("Ada");
    await page.goto("/");
    expect(new URL(page.url()).pathname).toBe("/room");
    await waitForRoom(page);
    await page.getByRole("button", { name: "Leave" }).click();
    await page.waitForURL(`${app.address}/`);
    await page.goto("/room");
    expect(new URL(page.url()).pathname).toBe("/");
  });

  it("takes names that can be seen, told apart and shown", async () => {
    const enter = (name: unknown, cookie = "") => app.call("enter", { name }, cookie);
    const wrong = { status: 422, body: { error: { code: "validation_error", details: { parameter: "name" } } } };
    for (const name of ["", "  ", "\u200b", "…", 7, "n".repeat(41)]) expect(await enter(name)).toMatchObject(wrong);
    const taken = { status: 409, body: { error: { code: "conflict", details: { parameter: "name" } } } };
    expect(await enter("n".repeat(40))).toMatchObject({ status: 200, body: { result: null } });
    const ada = await enter("  Ada\u202e \n Lovelace ");
    expect(ada).toMatchObject({ status: 200 });
    expect(await app.sql("SELECT name FROM people WHERE name LIKE 'A%'")).toMatchObject([{ name: "Ada Lovelace" }]);
    for (const name of ["ada lovelace", "Ada\u200b Lovelace", "Assistant"]) {
      expect(await enter(name)).toMatchObject(taken);
    }
    expect(await enter("Ada Lovelace", ada.cookie)).toMatchObject({ status: 200 });

    const page = await app.users.newPage();
    await page.goto("/");
    await page.fill("#name", "Ada Lovelace");
    await page.getByRole("button", { name: "Enter the lobby" }).click();
    await page.locator('#name-error[role="alert"]', { hasText: "Somebody here goes by that name." }).waitFor();
    await page.locator('#name[aria-invalid="true"]:focus').waitFor();
    expect(await page.getAttribute("#name", "aria-describedby")).toBe("name-error");
  });

  it("shows everybody what everybody says, in one order, and keeps it", async () => {
    const [ada, grace] = [await app.enter("Ada"), await app.enter("Grace")];
    await sendMessage(ada, "first");
    await messageWithText(grace, "first").waitFor();
    await sendMessage(grace, "second");
    const burst = async (page: typeof ada, name: string) => {
      for (let n = 0; n < 8; n++) await sendMessage(page, `${name} ${n}`);
    };
    await Promise.all([burst(ada, "ada"), burst(grace, "grace")]);
    for (const page of [ada, grace]) await expect.poll(async () => (await messageTexts(page)).length).toBe(18);
    const shown = await messageTexts(ada);
    expect(shown.slice(0, 2)).toEqual(["first", "second"]);
    expect(shown.filter((text) => text.startsWith("ada")).map((text) => Number(text.slice(4)))).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7,
    ]);
    expect(await messageTexts(grace)).toEqual(shown);

    await grace.reload();
    expect(await messageTexts(grace)).toEqual(shown);
    await waitForRoom(grace);
    await sendMessage(ada, "after the reload");
    await messageWithText(grace, "after the reload").waitFor();
    expect(await messageTexts(grace)).toEqual([...shown, "after the reload"]);
  });

  it("shows text as text", async () => {
    const [ada, grace] = [await app.enter("<b>Ada</b>"), await app.enter("Grace")];
    const text = `<img src=x onerror="document.title='broken'"></script><script>document.title="in"</script>&amp;`;
    await sendMessage(ada, text);
    await messageWithText(grace, text).waitFor();
    expect(await grace.locator(".entry .by bdi").textContent()).toBe("<b>Ada</b>");
    await grace.reload();
    await messageWithText(grace, text).waitFor();
    for (const page of [ada, grace]) {
      expect(await page.locator("#log img, #log script, #log b").count()).toBe(0);
      expect(await page.title()).toBe("Lobby");
    }
  });

  it("says once what is sent twice, and nothing in another's name", async () => {
    const ada = (await app.call("enter", { name: "Ada" })).cookie;
    const grace = (await app.call("enter", { name: "Grace" })).cookie;
    const message = { id: newId(), text: "once" };
    const first = await app.call("say", message, ada);
    expect(first.body.result).toMatchObject({ id: message.id, text: "once", name: "Ada", state: "said" });
    expect(await app.call("say", { ...message, text: "changed" }, ada)).toEqual(first);
    expect(await app.call("say", message, grace)).toMatchObject({
      status: 409,
      body: { error: { code: "conflict" } },
    });
    for (const id of ["", `${newId()}0`, newId().slice(1), newId().toUpperCase().replace(/^./, "G"), 7]) {
      expect(await app.call("say", { ...message, id }, ada)).toMatchObject({ status: 422 });
    }
    expect((await app.sql("SELECT text FROM messages")).map(({ text }) => text)).toEqual(["once"]);
  });

  it("takes messages of 1 to 2000 characters, and ties what is wrong to the field", async () => {
    const { cookie } = await app.call("enter", { name: "Ada" });
    const status = async (text: string) => (await app.call("say", { id: newId(), text }, cookie)).status;
    expect(await Promise.all(["", " \n ", "x", "x".repeat(2_000), "x".repeat(2_001)].map(status))).toEqual([
      422, 422, 200, 200, 422,
    ]);

    const page = await app.enter("Grace");
    const refused = async (message: string) => {
      await page.press("#text", "Enter");
      await page.locator('#text-error[role="alert"]', { hasText: message }).waitFor();
      await page.locator('#text[aria-invalid="true"]:focus').waitFor();
      expect((await page.getAttribute("#text", "aria-describedby"))?.split(" ")).toContain("text-error");
    };
    await refused("Write something first.");
    await page.fill("#text", "/ask  ");
    await refused("Write something first.");
    await page.fill("#text", "y".repeat(2_001));
    await refused("That is 2001 characters long: 2000 fit into one message.");
    expect(await page.textContent("#text-hint")).toBe("1 too many");
    await sendMessage(page, "y".repeat(2_000));
    expect(await page.getAttribute("#text", "aria-invalid")).toBe("false");
  });

  it("sends with Enter, starts a line with Shift and Enter, and keeps the focus", async () => {
    const page = await app.enter("Ada");
    await page.locator("#text:focus").waitFor();
    await page.keyboard.type("one");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("two");
    await page.keyboard.press("Enter");
    await page.locator(".entry.said .text").waitFor();
    expect(await messageTexts(page)).toEqual(["one\ntwo"]);
    expect(await page.inputValue("#text")).toBe("");
    await page.keyboard.type("three");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await messageWithText(page, "three").waitFor();
    await page.locator("#text:focus").waitFor();
  });

  it("says that a message did not get through, and sends it once when asked again", async () => {
    const page = await app.enter("Ada");
    await page.route("**/__web/rpc/say", (route) => route.abort());
    await page.fill("#text", "Is this on?");
    await page.press("#text", "Enter");
    await page.locator(".entry.failed", { hasText: "Not sent." }).waitFor();
    expect(app.users.problems.splice(0)).toEqual(["console: Failed to load resource: net::ERR_FAILED"]);
    // It arrives, and the answer does not: another attempt must not say it twice.
    await page.unrouteAll();
    await page.route("**/__web/rpc/say", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.getByRole("button", { name: "Try again" }).click();
    await messageWithText(page, "Is this on?").waitFor();
    expect(app.users.problems.splice(0)).toEqual(["console: Failed to load resource: net::ERR_FAILED"]);
    expect(await messageTexts(page)).toEqual(["Is this on?"]);
    expect(await app.sql("SELECT text FROM messages")).toHaveLength(1);
  });

  it("begins with the last 50 messages, and loads those before them in their place", async () => {
    for (let n = 1; n <= 101; n++) {
      await app.sql(
        "INSERT INTO messages (id, author, name, text, state, sent, grown) VALUES (?, 'x', 'X', ?, 'said', ?, 0)",
        ...[newId(), `message ${n}`, new Date(1_700_000_000_000 + n * 1_000).toISOString()],
      );
    }
    const page = await app.enter("Ada");
    const numbers = async () => (await messageTexts(page)).map((text) => Number(text.slice(8)));
    const from = (first: number) => Array.from({ length: 102 - first }, (_, index) => first + index);
    expect(await numbers()).toEqual(from(52));
    const more = page.getByRole("button", { name: "Load earlier messages" });
    await more.scrollIntoViewIfNeeded();
    const top = () =>
      messageWithText(page, "message 52").evaluate((element) => Math.round(element.getBoundingClientRect().top));
    const before = await top();
    await more.click();
    await expect.poll(numbers).toEqual(from(2));
    expect(Math.abs((await top()) - before)).toBeLessThan(60);
    await more.click();
    await expect.poll(numbers).toEqual(from(1));
    await more.waitFor({ state: "detached" });
  });

  it("stays at the end when it was there, and else where it was", async () => {
    const [ada, grace] = [await app.enter("Ada"), await app.enter("Grace")];
    for (let n = 0; n < 6; n++) await sendMessage(ada, `message ${n}\n\n\n\n\n`.padEnd(20, "."));
    const log = grace.locator("#log");
    const fromEnd = () => log.evaluate((element) => Math.round(Math.abs(element.scrollTop)));
    await expect.poll(async () => (await messageTexts(grace)).length).toBe(6);
    expect(await log.evaluate((element) => element.scrollHeight > element.clientHeight)).toBe(true);
    expect(await fromEnd()).toBe(0);
    await log.evaluate((element) => element.scrollTo(0, -200));
    const top = () =>
      grace
        .locator(".entry")
        .nth(2)
        .evaluate((element) => element.getBoundingClientRect().top);
    await expect.poll(fromEnd).toBe(200);
    const before = await top();
    await sendMessage(ada, "unseen");
    await grace.getByRole("button", { name: "1 new message" }).waitFor();
    expect(await top()).toBe(before);
    await grace.getByRole("button", { name: "1 new message" }).click();
    await expect.poll(fromEnd).toBe(0);
    await grace.locator(".unseen").waitFor({ state: "detached" });
  });

  it("shows who is here: each once, from when they come until they leave or have been silent for a minute", async () => {
    const ada = await app.enter("Ada");
    const grace = await app.enter("Grace");
    await expect.poll(() => peopleNames(ada)).toEqual(["Ada", "Grace"]);
    const second = await grace.context().newPage();
    await second.goto("/room");
    await waitForRoom(second);
    expect(await peopleNames(second)).toEqual(["Ada", "Grace"]);
    await second.close();
    const katherine = await app.enter("Katherine");
    await expect.poll(() => peopleNames(ada)).toEqual(["Ada", "Grace", "Katherine"]);
    await katherine.getByRole("button", { name: "Leave" }).click();
    await expect.poll(() => peopleNames(ada)).toEqual(["Ada", "Grace"]);
    expect(await ada.locator(".people .count").textContent()).toBe("2");

    const look = async () => {
      const told = ada.waitForResponse("**/__web/rpc/here");
      await ada.evaluate(() => document.dispatchEvent(new Event("visibilitychange", { bubbles: true })));
      await (await told).finished();
    };
    const silent = (ms: number) => app.sql("UPDATE people SET seen = ? WHERE name = 'Grace'", Date.now() - ms);
    await grace.close();
    await silent(55_000);
    await look();
    await sendMessage(ada, "What was told before this is shown.");
    expect(await peopleNames(ada)).toEqual(["Ada", "Grace"]);
    await silent(60_001);
    await look();
    await expect.poll(() => peopleNames(ada)).toEqual(["Ada"]);
  });

  it("says every 20 seconds that somebody is here, for as long as they can see the page", async () => {
    const page = await app.enter("Ada");
    await page.clock.install();
    await page.reload();
    await waitForRoom(page);
    let beats = 0;
    page.on("requestfinished", (request) => {
      if (request.url().endsWith("/__web/rpc/here")) beats++;
    });
    const turn = (visibility: "hidden" | "visible") =>
      page.evaluate((value) => {
        Object.defineProperty(document, "visibilityState", { value, configurable: true });
        document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
      }, visibility);
    await page.clock.runFor(19_000);
    expect(beats).toBe(0);
    await page.clock.runFor(1_500);
    await expect.poll(() => beats).toBe(1);
    await turn("hidden");
    await page.clock.runFor(20_000);
    await turn("visible");
    await expect.poll(() => beats).toBe(2);
  });

  it("leads a page to the door once its visitor has left in another", async () => {
    const first = await app.enter("Ada");
    const second = await first.context().newPage();
    await second.goto("/room");
    await waitForRoom(second);
    await second.getByRole("button", { name: "Leave" }).click();
    await second.waitForURL(`${app.address}/`);
    await first.evaluate(() => document.dispatchEvent(new Event("visibilitychange", { bubbles: true })));
    await first.waitForURL(`${app.address}/`);
  });

  it("can be read out, and fits on a small screen", async () => {
    const page = await app.users.newPage({ viewport: { width: 320, height: 640 } });
    await page.goto("/");
    expect(await page.evaluate(findFlaws)).toEqual([]);
    await page.goto("/nowhere");
    expect(await page.evaluate(findFlaws)).toEqual([]);
    const ada = await app.enter("A".repeat(40), { viewport: { width: 320, height: 640 } });
    await sendMessage(ada, "w".repeat(300));
    expect(await ada.evaluate(findFlaws)).toEqual([]);
    expect(await ada.getByRole("log", { name: "Messages" }).getAttribute("aria-live")).toBe("polite");
    await ada.getByLabel("Message", { exact: true }).waitFor();
    await ada.getByRole("list", { name: "Here now" }).waitFor();
    const send = await ada.getByRole("button", { name: "Send", exact: true }).boundingBox();
    expect((send?.y ?? 0) + (send?.height ?? 0)).toBeLessThanOrEqual(640);
  });

  it("says that it needs a script where there is none", async () => {
    const page = await app.users.newPage({ javaScriptEnabled: false });
    await page.goto("/");
    await page.locator("noscript p", { hasText: "needs JavaScript" }).waitFor();
    expect(await page.locator("button:disabled").count()).toBe(1);
  });
});
