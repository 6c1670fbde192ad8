/**
 * Live updates of the chat example in Chromium: lost connections, killed servers and streamed answers.
 */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { IS_MATRIX } from "#test/matrix";
import { ChatApp, MODES, messageTexts, messageWithText, peopleNames, sendMessage, waitForRoom } from "./chat-app.ts";

/** Returns the assistant's answer to "count to …". */
const upTo = (last: number) => Array.from({ length: last }, (_, index) => `${index + 1} `).join("");

/**
 * The browser's reports of a server that it cannot reach, and of a module that a page requests from the next development server
 * before it is reloaded.
 */
const UNREACHABLE =
  /^console: (Failed to load resource: (net::ERR_|the server responded with a status of 504 \(Outdated Request\))|WebSocket connection to .* failed|\[vite\] failed to connect)/;

describe.each(MODES)("live updates of the chat example, %s", (mode) => {
  let app: ChatApp;

  beforeAll(async () => {
    app = await ChatApp.open(mode);
  });

  afterEach(async () => {
    expect(await app.clear()).toEqual([]);
  });

  afterAll(() => app?.close());

  const enterBoth = async () => [await app.enter("Ada"), await app.enter("Grace")] as const;

  /** Returns a locator of the assistant's last answer in a state. */
  const answer = (page: Page, state: "writing" | "stopped" | "complete") =>
    page.locator(`.entry.assistant.${state} .text`);

  it("reloads a page if a killed server has lost its messages, but not while the user types", async () => {
    const [ada, grace] = await enterBoth();
    await sendMessage(ada, "before");
    await messageWithText(grace, "before").waitFor();
    for (const page of [ada, grace]) await page.evaluate(() => Object.assign(window, { isOld: true }));
    const isOld = (page: Page) => page.evaluate(() => "isOld" in window);
    await ada.fill("#text", "half typed");
    const killed = await app.kill();
    await app.sql(
      "INSERT INTO messages (id, author, name, text, state, sent, updated) VALUES ('x', 'x', 'X', 'unheard', 'complete', ?, 0)",
      new Date().toISOString(),
    );
    await killed.start();
    await messageWithText(grace, "unheard").waitFor();
    expect(await isOld(grace)).toBe(false);
    await waitForRoom(grace);
    if (mode === "dev") {
      // Vite's client reloads every page when it reconnects.
      await ada.waitForFunction(() => !("isOld" in window));
      await waitForRoom(ada);
      await ada.fill("#text", "half typed");
    }
    expect(await ada.inputValue("#text")).toBe("half typed");
    await ada.press("#text", "Enter");
    await messageWithText(grace, "half typed").waitFor();
    await messageWithText(ada, "unheard").waitFor();
    for (const page of [ada, grace]) expect(await messageTexts(page)).toEqual(["before", "unheard", "half typed"]);
    expect(app.users.problems.splice(0).filter((problem) => !UNREACHABLE.test(problem))).toEqual([]);
  });

  // Here, Vite's client reloads pages. The other tests are about the application, which is the same in both modes.
  if (mode === "dev" && !IS_MATRIX) return;

  it("delivers missed messages to a page that was offline", async () => {
    const [ada, grace] = await enterBoth();
    await sendMessage(grace, "before");
    await messageWithText(ada, "before").waitFor();
    await grace.context().setOffline(true);
    await grace.locator(".notice", { hasText: "No connection." }).waitFor();
    await sendMessage(ada, "while she was offline");
    await sendMessage(ada, "and once more");
    await grace.context().setOffline(false);
    await messageWithText(grace, "and once more").waitFor();
    expect(await messageTexts(grace)).toEqual(["before", "while she was offline", "and once more"]);
    await expect.poll(() => grace.locator(".notice").first().textContent()).toBe("");
    expect(app.users.problems.splice(0).filter((problem) => !UNREACHABLE.test(problem))).toEqual([]);
  });

  it("shows a streamed answer to all users, also to users who enter while it is written", async () => {
    const [ada, grace] = await enterBoth();
    await ada.fill("#text", "count to 60");
    await ada.getByRole("button", { name: "Ask the assistant" }).click();
    await messageWithText(grace, "count to 60").waitFor();
    await answer(ada, "writing").filter({ hasText: "1 2 3" }).waitFor();
    await answer(grace, "writing").filter({ hasText: "1 2 3" }).waitFor();
    expect(await grace.locator(".entry.assistant").getAttribute("aria-busy")).toBe("true");
    expect(await grace.getByRole("button", { name: "Stop" }).count()).toBe(0);
    await ada.locator("#text:focus").waitFor();
    const late = await app.enter("Katherine");
    const partial = (await answer(late, "writing").textContent()) ?? "";
    expect(upTo(60).startsWith(partial)).toBe(true);
    expect(partial.length).toBeLessThan(upTo(60).length);
    for (const page of [ada, grace, late]) {
      await answer(page, "complete").waitFor();
      expect(await messageTexts(page)).toEqual(["count to 60", upTo(60)]);
    }
    expect(await ada.getByRole("button", { name: "Stop" }).count()).toBe(0);
    await late.reload();
    expect(await messageTexts(late)).toEqual(["count to 60", upTo(60)]);
  });

  it("stops an answer for all users when the author of the question stops it", async () => {
    const [ada, grace] = await enterBoth();
    await sendMessage(ada, "/ask count to 500");
    await answer(grace, "writing").filter({ hasText: "1 2 3" }).waitFor();
    await ada.getByRole("button", { name: "Stop", exact: true }).click();
    await ada.locator("#text:focus").waitFor();
    for (const page of [ada, grace]) {
      await answer(page, "stopped").waitFor();
      await page.locator(".entry.assistant .note", { hasText: "Stopped" }).waitFor();
    }
    const [, text = ""] = await messageTexts(grace);
    expect(text.length).toBeLessThan(upTo(500).length);
    expect(upTo(500).startsWith(text)).toBe(true);
    expect(await messageTexts(ada)).toEqual(["count to 500", text]);
    expect(await app.sql("SELECT text, state FROM messages WHERE author = 'assistant'")).toMatchObject([
      { text, state: "stopped" },
    ]);
    await sendMessage(ada, "/ask count to 3");
    await answer(grace, "complete").waitFor();
    expect((await messageTexts(grace)).slice(-2)).toEqual(["count to 3", upTo(3)]);
  });

  it("stops an answer when the page of the author of the question is closed", async () => {
    const [ada, grace] = await enterBoth();
    await sendMessage(ada, "/ask count to 500");
    await answer(grace, "writing").filter({ hasText: "1 2 3" }).waitFor();
    await ada.close();
    await answer(grace, "stopped").waitFor();
    await grace.locator(".entry.assistant .note", { hasText: "Stopped" }).waitFor();
  });

  it("stops an answer of a killed server after 30 seconds without progress", async () => {
    const ada = await app.enter("Ada");
    const write = (ms: number) =>
      app.sql(
        `INSERT INTO messages (id, author, name, text, state, sent, updated)
         VALUES ('re:x', 'assistant', 'Assistant', 'half an', 'writing', ?, ?)
         ON CONFLICT (id) DO UPDATE SET updated = excluded.updated`,
        ...[new Date().toISOString(), Date.now() - ms],
      );
    await write(0);
    await ada.reload();
    await waitForRoom(ada);
    await answer(ada, "writing").waitFor();
    await write(30_001);
    await answer(ada, "stopped").waitFor();
  });

  it("creates one answer to a question that is sent twice, and rejects an empty question", async () => {
    const cookie = await app.signIn("Script");
    const sendQuestion = async (id: string, text: string) => {
      const response = await fetch(`${app.address}/__web/rpc/ask_assistant`, {
        method: "POST",
        headers: { "content-type": "application/json", cookie },
        body: JSON.stringify({ args: { id, text } }),
      });
      const lines = (await response.text()).trim().split("\n");
      return lines.map((line) => JSON.parse(line));
    };
    const id = "0123456789abcdef".repeat(2);
    const lines = await sendQuestion(id, "count to 2");
    expect(lines.map(({ chunk, done }) => chunk?.kind ?? done)).toEqual(["message", "message", "chunk", "chunk", true]);
    expect(lines[3].chunk).toEqual({ kind: "chunk", id: `re:${id}`, offset: 2, text: "2 " });
    expect((await sendQuestion(id, "count to 2")).at(-1)).toMatchObject({ error: { code: "conflict" } });
    expect(await sendQuestion(id.replace("0", "f"), " ")).toMatchObject([{ error: { code: "validation_error" } }]);
    expect(await app.sql("SELECT sequence FROM messages")).toHaveLength(2);
    const ada = await app.enter("Ada");
    await expect.poll(() => peopleNames(ada)).toEqual(["Ada"]); // a script has no page
  });
});
