/**
 * The chat example in Chromium: sign-in, messages and presence.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { IS_MATRIX } from "#test/matrix";
import { findAccessibilityProblems } from "./accounts-actions.ts";
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

// What these tests are about is the same in both modes. In development, chat-live.test.ts sends messages in `npm test`.
describe.each(IS_MATRIX ? MODES : (["built"] as const))("the chat example, %s", (mode) => {
  let app: ChatApp;

  beforeAll(async () => {
    app = await ChatApp.open(mode);
  });

  afterEach(async () => {
    expect(await app.clear()).toEqual([]);
  });

  afterAll(() => app?.close());

  it("shows the room to signed-in users only, and redirects all others", async () => {
    const signedOut = await fetch(`${app.address}/room`, { redirect: "manual" });
    expect([signedOut.status, signedOut.headers.get("location")]).toEqual([303, "/"]);
    const rejected = { status: 401, body: { error: { code: "unauthenticated" } } };
    const message = { id: newId(), text: "Hello" };
    expect(await app.call("send_message", message)).toMatchObject(rejected);
    expect(await app.call("ask_assistant", message)).toMatchObject(rejected);
    expect(await app.call("earlier_messages", { before: 1 })).toMatchObject(rejected);

    const page = await app.users.reusePage();
    await page.goto("/");
    await page.fill("#name", "Ada");
    await page.getByRole("button", { name: "Enter the lobby" }).click();
    await page.waitForURL("**/room");
    await waitForRoom(page);
    await page.goto("/");
    expect(new URL(page.url()).pathname).toBe("/room");
    await waitForRoom(page);
    await page.getByRole("button", { name: "Leave" }).click();
    await page.waitForURL(`${app.address}/`);
    await page.goto("/room");
    expect(new URL(page.url()).pathname).toBe("/");
  });

  it("accepts names that are visible, unique and of valid length", async () => {
    const enter = (name: unknown, cookie = "") => app.call("enter", { name }, cookie);
    const invalid = { status: 422, body: { error: { code: "validation_error", details: { parameter: "name" } } } };
    for (const name of ["", "  ", "\u200b", "…", 7, "n".repeat(41)]) expect(await enter(name)).toMatchObject(invalid);
    const taken = { status: 409, body: { error: { code: "conflict", details: { parameter: "name" } } } };
    expect(await enter("n".repeat(40))).toMatchObject({ status: 200, body: { result: null } });
    const ada = await app.enter("  Ada\u202e \n Lovelace ");
    await expect.poll(() => peopleNames(ada)).toEqual(["Ada Lovelace"]);
    await expect.poll(() => enter("ada lovelace")).toMatchObject(taken);
    for (const name of ["Ada\u200b Lovelace", "Assistant"]) expect(await enter(name)).toMatchObject(taken);

    const page = await app.users.reusePage();
    await page.goto("/");
    await page.fill("#name", "Ada Lovelace");
    await page.getByRole("button", { name: "Enter the lobby" }).click();
    await page.locator('#name-error[role="alert"]', { hasText: "Somebody here goes by that name." }).waitFor();
    await page.locator('#name[aria-invalid="true"]:focus').waitFor();
    expect(await page.getAttribute("#name", "aria-describedby")).toBe("name-error");
    const cookie = (await ada.context().cookies()).map((each) => `${each.name}=${each.value}`).join("; ");
    expect(await enter("Ada Lovelace", cookie)).toMatchObject({ status: 200 });
  });

  it("shows all messages to all users in the same order, also after a reload", async () => {
    const [ada, grace] = [await app.enter("Ada"), await app.enter("Grace")];
    await sendMessage(ada, "first");
    await messageWithText(grace, "first").waitFor();
    await sendMessage(grace, "second");
    const burst = async (page: typeof ada, name: string) => {
      for (let n = 0; n < 4; n++) await sendMessage(page, `${name} ${n}`);
    };
    await Promise.all([burst(ada, "ada"), burst(grace, "grace")]);
    for (const page of [ada, grace]) await expect.poll(async () => (await messageTexts(page)).length).toBe(10);
    const shown = await messageTexts(ada);
    expect(shown.slice(0, 2)).toEqual(["first", "second"]);
    expect(shown.filter((text) => text.startsWith("ada")).map((text) => Number(text.slice(4)))).toEqual([0, 1, 2, 3]);
    expect(await messageTexts(grace)).toEqual(shown);

    await grace.reload();
    expect(await messageTexts(grace)).toEqual(shown);
    await waitForRoom(grace);
    await sendMessage(ada, "after the reload");
    await messageWithText(grace, "after the reload").waitFor();
    expect(await messageTexts(grace)).toEqual([...shown, "after the reload"]);
  });

  it("shows HTML in messages and names as text", async () => {
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

  it("stores a message once if it is sent twice, and rejects the id of another user's message", async () => {
    const ada = await app.signIn("Ada");
    const grace = await app.signIn("Grace");
    const message = { id: newId(), text: "once" };
    const first = await app.call("send_message", message, ada);
    expect(first.body.result).toMatchObject({ id: message.id, text: "once", name: "Ada", state: "complete" });
    expect(await app.call("send_message", { ...message, text: "changed" }, ada)).toEqual(first);
    expect(await app.call("send_message", message, grace)).toMatchObject({
      status: 409,
      body: { error: { code: "conflict" } },
    });
    for (const id of ["", `${newId()}0`, newId().slice(1), newId().toUpperCase().replace(/^./, "G"), 7]) {
      expect(await app.call("send_message", { ...message, id }, ada)).toMatchObject({ status: 422 });
    }
    expect((await app.sql("SELECT text FROM messages")).map(({ text }) => text)).toEqual(["once"]);
  });

  it("accepts messages of 1 to 2000 characters, and describes the field by the error", async () => {
    const cookie = await app.signIn("Ada");
    const status = async (text: string) => (await app.call("send_message", { id: newId(), text }, cookie)).status;
    expect(await Promise.all(["", " \n ", "x", "x".repeat(2_000), "x".repeat(2_001)].map(status))).toEqual([
      422, 422, 200, 200, 422,
    ]);

    const page = await app.enter("Grace");
    const expectRejected = async (message: string) => {
      await page.press("#text", "Enter");
      await page.locator('#text-error[role="alert"]', { hasText: message }).waitFor();
      await page.locator('#text[aria-invalid="true"]:focus').waitFor();
      expect((await page.getAttribute("#text", "aria-describedby"))?.split(" ")).toContain("text-error");
    };
    await expectRejected("Write something first.");
    await page.fill("#text", "/ask  ");
    await expectRejected("Write something first.");
    await page.fill("#text", "y".repeat(2_001));
    await expectRejected("That is 2001 characters long: 2000 fit into one message.");
    expect(await page.textContent("#text-hint")).toBe("1 too many");
    await sendMessage(page, "y".repeat(2_000));
    expect(await page.getAttribute("#text", "aria-invalid")).toBe("false");
  });

  it("sends with Enter, starts a line with Shift+Enter, and keeps the focus", async () => {
    const page = await app.enter("Ada");
    await page.locator("#text:focus").waitFor();
    await page.keyboard.type("one");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("two");
    await page.keyboard.press("Enter");
    await page.locator(".entry.complete .text").waitFor();
    expect(await messageTexts(page)).toEqual(["one\ntwo"]);
    expect(await page.inputValue("#text")).toBe("");
    await page.keyboard.type("three");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await messageWithText(page, "three").waitFor();
    await page.locator("#text:focus").waitFor();
  });

  it("shows that a message was not sent, and sends it again on request", async () => {
    const page = await app.enter("Ada");
    await page.route("**/__web/rpc/send_message", (route) => route.abort());
    await page.fill("#text", "Is this on?");
    await page.press("#text", "Enter");
    await page.locator(".entry.failed", { hasText: "Not sent." }).waitFor();
    expect(app.users.problems.splice(0)).toEqual(["console: Failed to load resource: net::ERR_FAILED"]);
    // The message arrives, but the response is lost: another attempt must not store it twice.
    await page.unrouteAll();
    await page.route("**/__web/rpc/send_message", async (route) => {
      await route.fetch();
      await route.abort();
    });
    await page.getByRole("button", { name: "Try again" }).click();
    await messageWithText(page, "Is this on?").waitFor();
    // The message arrives through the feed, perhaps before the browser reports the lost response.
    await expect
      .poll(() => app.users.problems.splice(0))
      .toEqual(["console: Failed to load resource: net::ERR_FAILED"]);
    expect(await messageTexts(page)).toEqual(["Is this on?"]);
    expect(await app.sql("SELECT text FROM messages")).toHaveLength(1);
  });

  it("shows the last 50 messages, and loads earlier ones without moving them", async () => {
    for (let n = 1; n <= 101; n++) {
      await app.sql(
        "INSERT INTO messages (id, author, name, text, state, sent, updated) VALUES (?, 'x', 'X', ?, 'complete', ?, 0)",
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

  it("stays scrolled to the end, or at its position if the user has scrolled", async () => {
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

  it("lists each present user once, until the user leaves or has closed the page", async () => {
    const ada = await app.enter("Ada");
    const grace = await app.enter("Grace");
    const names = async (page: typeof ada) => (await peopleNames(page)).sort();
    await expect.poll(() => names(ada)).toEqual(["Ada", "Grace"]);
    const second = await grace.context().newPage();
    await second.goto("/room");
    await waitForRoom(second);
    await expect.poll(() => names(second)).toEqual(["Ada", "Grace"]);
    await second.close();
    const katherine = await app.enter("Katherine");
    await expect.poll(() => names(ada)).toEqual(["Ada", "Grace", "Katherine"]);
    await katherine.getByRole("button", { name: "Leave" }).click();
    await expect.poll(() => names(ada)).toEqual(["Ada", "Grace"]);
    expect(await ada.locator(".people .count").textContent()).toBe("2");
    await grace.close();
    await expect.poll(() => names(ada), { timeout: 40_000 }).toEqual(["Ada"]);
  });

  it("returns to the sign-in page if the user has left in another tab", async () => {
    const first = await app.enter("Ada");
    const second = await first.context().newPage();
    await second.goto("/room");
    await waitForRoom(second);
    await second.getByRole("button", { name: "Leave" }).click();
    await second.waitForURL(`${app.address}/`);
    await first.waitForURL(`${app.address}/`);
  });

  it("has no accessibility problems, and fits on a small screen", async () => {
    const page = await app.users.reusePage({ viewport: { width: 320, height: 640 } });
    await page.goto("/");
    expect(await page.evaluate(findAccessibilityProblems)).toEqual([]);
    await page.goto("/nowhere");
    expect(await page.evaluate(findAccessibilityProblems)).toEqual([]);
    const ada = await app.enter("A".repeat(40), { viewport: { width: 320, height: 640 } });
    await sendMessage(ada, "w".repeat(300));
    expect(await ada.evaluate(findAccessibilityProblems)).toEqual([]);
    expect(await ada.getByRole("log", { name: "Messages" }).getAttribute("aria-live")).toBe("polite");
    await ada.getByLabel("Message", { exact: true }).waitFor();
    await ada.getByRole("list", { name: "Here now" }).waitFor();
    const send = await ada.getByRole("button", { name: "Send", exact: true }).boundingBox();
    expect((send?.y ?? 0) + (send?.height ?? 0)).toBeLessThanOrEqual(640);
  });

  it("shows a notice that it needs JavaScript in a browser without it", async () => {
    const page = await app.users.reusePage({ javaScriptEnabled: false });
    await page.goto("/");
    await page.locator("noscript p", { hasText: "needs JavaScript" }).waitFor();
    expect(await page.locator("button:disabled").count()).toBe(1);
  });
});
