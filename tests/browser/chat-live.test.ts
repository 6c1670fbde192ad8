/**
 * What is live of the chat example, in a real browser: connections that are lost, servers that are
 * killed, and answers that grow before everybody's eyes.
 */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { alive, MODES, people, Stage, said, say, texts } from "./chat-stage.ts";

/** What the assistant says when it is asked to count. */
const upTo = (most: number) => Array.from({ length: most }, (_, index) => `${index + 1} `).join("");

/** What a browser says of a server that it cannot reach. */
const UNREACHABLE =
  /^console: (Failed to load resource: net::ERR_|WebSocket connection to .* failed|\[vite\] failed to connect)/;

describe.each(MODES)("the chat example's live side, %s", { timeout: 60_000 }, (mode) => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.open(mode);
  }, 120_000);

  afterEach(async () => {
    expect(await stage.clear()).toEqual([]);
  });

  afterAll(() => stage?.close());

  const both = async () => [await stage.enter("Ada"), await stage.enter("Grace")] as const;

  /** The assistant's last answer, in one of its states. */
  const answer = (page: Page, state: "writing" | "stopped" | "said") => page.locator(`.entry.assistant.${state} .text`);

  it("brings to a page that was offline what it missed", async () => {
    const [ada, grace] = await both();
    await say(grace, "before");
    await said(ada, "before").waitFor();
    await grace.context().setOffline(true);
    await grace.locator(".notice", { hasText: "No connection." }).waitFor();
    await say(ada, "while she was away");
    await say(ada, "and once more");
    await grace.context().setOffline(false);
    await said(grace, "and once more").waitFor({ timeout: 30_000 });
    expect(await texts(grace)).toEqual(["before", "while she was away", "and once more"]);
    await expect.poll(() => grace.locator(".notice").first().textContent()).toBe("");
    expect(stage.visitors.complaints.splice(0).filter((complaint) => !UNREACHABLE.test(complaint))).toEqual([]);
  });

  it("loads a page anew when the server was killed and has lost its messages, but not what is being written", async () => {
    const [ada, grace] = await both();
    await say(ada, "before");
    await said(grace, "before").waitFor();
    for (const page of [ada, grace]) await page.evaluate(() => Object.assign(window, { isOld: true }));
    const isOld = (page: Page) => page.evaluate(() => "isOld" in window);
    await ada.fill("#text", "half typed");
    const killed = await stage.kill();
    await stage.sql(
      "INSERT INTO messages (id, author, name, text, state, sent, grown) VALUES ('x', 'x', 'X', 'unheard', 'said', ?, 0)",
      new Date().toISOString(),
    );
    await killed.start();
    await said(grace, "unheard").waitFor({ timeout: 45_000 });
    expect(await isOld(grace)).toBe(false);
    await alive(grace);
    if (mode === "dev") {
      // Vite's client loads every page anew once its server is back.
      await ada.waitForFunction(() => !("isOld" in window));
      await alive(ada);
      await ada.fill("#text", "half typed");
    }
    expect(await ada.inputValue("#text")).toBe("half typed");
    await ada.press("#text", "Enter");
    await said(grace, "half typed").waitFor({ timeout: 30_000 });
    await said(ada, "unheard").waitFor({ timeout: 30_000 });
    for (const page of [ada, grace]) expect(await texts(page)).toEqual(["before", "unheard", "half typed"]);
    expect(stage.visitors.complaints.splice(0).filter((complaint) => !UNREACHABLE.test(complaint))).toEqual([]);
  });

  it("shows an answer to everybody while it grows, and whole to whoever comes in between", async () => {
    const [ada, grace] = await both();
    await ada.fill("#text", "count to 60");
    await ada.getByRole("button", { name: "Ask the assistant" }).click();
    await said(grace, "count to 60").waitFor();
    await answer(ada, "writing").filter({ hasText: "1 2 3" }).waitFor();
    await answer(grace, "writing").filter({ hasText: "1 2 3" }).waitFor();
    expect(await grace.locator(".entry.assistant").getAttribute("aria-busy")).toBe("true");
    expect(await grace.getByRole("button", { name: "Stop" }).count()).toBe(0);
    await ada.locator("#text:focus").waitFor();
    const late = await stage.enter("Katherine");
    const found = (await answer(late, "writing").textContent()) ?? "";
    expect(upTo(60).startsWith(found)).toBe(true);
    expect(found.length).toBeLessThan(upTo(60).length);
    for (const page of [ada, grace, late]) {
      await answer(page, "said").waitFor();
      expect(await texts(page)).toEqual(["count to 60", upTo(60)]);
    }
    expect(await ada.getByRole("button", { name: "Stop" }).count()).toBe(0);
    await late.reload();
    expect(await texts(late)).toEqual(["count to 60", upTo(60)]);
  });

  it("stops an answer for everybody when its asker does", async () => {
    const [ada, grace] = await both();
    await say(ada, "/ask count to 500");
    await answer(grace, "writing").filter({ hasText: "1 2 3" }).waitFor();
    await ada.getByRole("button", { name: "Stop", exact: true }).click();
    await ada.locator("#text:focus").waitFor();
    for (const page of [ada, grace]) {
      await answer(page, "stopped").waitFor();
      await page.locator(".entry.assistant .note", { hasText: "Stopped" }).waitFor();
    }
    const [, text = ""] = await texts(grace);
    expect(text.length).toBeLessThan(upTo(500).length);
    expect(upTo(500).startsWith(text)).toBe(true);
    expect(await texts(ada)).toEqual(["count to 500", text]);
    expect(await stage.sql("SELECT text, state FROM messages WHERE author = 'assistant'")).toMatchObject([
      { text, state: "stopped" },
    ]);
    await say(ada, "/ask count to 3");
    await answer(grace, "said").waitFor();
    expect((await texts(grace)).slice(-2)).toEqual(["count to 3", upTo(3)]);
  });

  it("stops an answer when its asker's page is closed", async () => {
    const [ada, grace] = await both();
    await say(ada, "/ask count to 500");
    await answer(grace, "writing").filter({ hasText: "1 2 3" }).waitFor();
    await ada.close();
    await answer(grace, "stopped").waitFor();
    await grace.locator(".entry.assistant .note", { hasText: "Stopped" }).waitFor();
  });

  it("ends an answer whose server was killed, once it has not grown for half a minute", async () => {
    const ada = await stage.enter("Ada");
    const write = (ms: number) =>
      stage.sql(
        `INSERT INTO messages (id, author, name, text, state, sent, grown)
         VALUES ('re:x', 'assistant', 'Assistant', 'half an', 'writing', ?, ?)
         ON CONFLICT (id) DO UPDATE SET grown = excluded.grown`,
        ...[new Date().toISOString(), Date.now() - ms],
      );
    const look = async () => {
      const told = ada.waitForResponse("**/__web/rpc/here");
      await ada.evaluate(() => document.dispatchEvent(new Event("visibilitychange", { bubbles: true })));
      await (await told).finished();
    };
    await write(25_000);
    await ada.reload();
    await alive(ada);
    await look();
    expect(await stage.sql("SELECT state FROM messages")).toEqual([{ state: "writing" }]);
    await answer(ada, "writing").waitFor();
    await write(30_001);
    await look();
    await answer(ada, "stopped").waitFor();
  });

  it("answers a question once, and is not asked without one", async () => {
    const { cookie } = await stage.call("enter", { name: "Script" });
    const ask = async (id: string, text: string) => {
      const response = await fetch(`${stage.address}/__web/rpc/ask`, {
        method: "POST",
        headers: { "content-type": "application/json", cookie },
        body: JSON.stringify({ args: { id, text } }),
      });
      const lines = (await response.text()).trim().split("\n");
      return lines.map((line) => JSON.parse(line));
    };
    const id = "0123456789abcdef".repeat(2);
    const lines = await ask(id, "count to 2");
    expect(lines.map(({ chunk, done }) => chunk?.kind ?? done)).toEqual(["message", "message", "piece", "piece", true]);
    expect(lines[3].chunk).toEqual({ kind: "piece", id: `re:${id}`, at: 2, text: "2 " });
    expect((await ask(id, "count to 2")).at(-1)).toMatchObject({ error: { code: "conflict" } });
    expect(await ask(id.replace("0", "f"), " ")).toMatchObject([{ error: { code: "validation_error" } }]);
    expect(await stage.sql("SELECT place FROM messages")).toHaveLength(2);
    expect(await people(await stage.enter("Ada"))).toEqual(["Script", "Ada"]);
  });
});
