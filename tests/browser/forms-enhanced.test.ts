/**
 * Forms of views in Chromium, sent in the background.
 */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { goBack, withFullBrowser } from "./chromium.ts";
import { FormsApp, fieldsOf, textOf, waitUntilAlive } from "./forms-app.ts";

let app: FormsApp;

beforeAll(async () => {
  app = await FormsApp.open();
});

afterEach(async () => {
  await app.users.closeAll();
  await app.takeCalls();
  expect(app.users.problems.splice(0)).toEqual([]);
});

afterAll(() => app?.close());

const UNREACHABLE = "error internal The server cannot be reached. Check your connection, and send the form again.";

const status = (page: Page) => page.textContent("output");

/** Sends the form of a page without its script, and returns the page. */
async function sendWithoutScript(path: string, values: Record<string, string>): Promise<Page> {
  const page = await app.visit(path);
  // As if the form was sent before the script has come: `submit()` dispatches no event.
  for (const [name, value] of Object.entries(values)) await page.fill(`[name=${name}]`, value);
  await page.evaluate(() => document.forms[0]?.submit());
  await page.waitForURL(/__form=/);
  await waitUntilAlive(page);
  return page;
}

describe("a form of a view", () => {
  it("stays in its page and is reset after a success", async () => {
    const page = await app.visit("/registration");
    await page.evaluate("globalThis.isSame = true");
    await page.fill("[name=email]", "ada@a.example");
    await page.fill("[name=password]", "secret");
    await page.fill("[name=age]", "30");
    await page.check("[name=tags][value=b]");
    await page.fill("textarea", "New");
    await page.click("button >> nth=0");
    await expect.poll(() => status(page)).toMatch(/^result/);
    expect(await page.evaluate("globalThis.isSame")).toBe(true);
    const initial = { email: "", password: "", age: "20", terms: false, "tags a": false, "tags b": false };
    expect(await fieldsOf(page)).toEqual({ ...initial, about: "Hello" });
  });

  it("has what was sent in its handle after a result, with script and without", async () => {
    const page = await sendWithoutScript("/keeping", { text: "first" });
    const expectKept = async (text: string) => {
      await expect.poll(() => status(page)).toBe(`result "${text}/-"`);
      expect(await page.inputValue("[name=text]")).toBe(text);
    };
    await expectKept("first");
    for (const text of ["second", "third"]) {
      await page.fill("[name=text]", text);
      await page.click("button");
      await expectKept(text);
    }
    await page.click("button");
    const calls: string[] = []; // each poll takes the calls that have arrived by then
    const collect = async () => {
      calls.push(...(await app.takeCalls()));
      return calls;
    };
    await expect.poll(collect).toEqual(["note first", "note second", "note third", "note third"]);
    await expectKept("third");
  });

  it("is sent once when it is sent again before its answer", async () => {
    const page = await app.visit("/slow");
    await page.fill("[name=text]", "one");
    await page.dblclick("button >> nth=0");
    await page.press("[name=text]", "Enter");
    expect(await status(page)).toBe("pending");
    await expect.poll(() => app.takeCalls()).toEqual(["slow one"]);
    await page.evaluate("fetch('/release')");
    await expect.poll(() => status(page)).toBe('result "one"');
    expect(await app.takeCalls()).toEqual([]);
    await page.fill("[name=text]", "two");
    await page.press("[name=text]", "Enter");
    await expect.poll(() => app.takeCalls()).toEqual(["slow two"]);
    await page.evaluate("fetch('/release')");
    await expect.poll(() => status(page)).toBe('result "two"');
  });

  it("may be removed while it is being sent", async () => {
    const page = await app.visit("/slow");
    await page.fill("[name=text]", "gone");
    await page.click("button >> nth=0");
    await expect.poll(() => app.takeCalls()).toEqual(["slow gone"]);
    await page.click("#toggle");
    const answered = page.waitForResponse(/__web.form/);
    await page.evaluate("fetch('/release')");
    await answered;
    await page.click("#toggle");
    expect(await status(page)).toBe("");
    expect(await page.inputValue("[name=text]")).toBe("");
  });

  it("keeps what was typed when the server is unreachable or a proxy answers in its place, and can be sent again", async () => {
    const page = await app.visit("/registration");
    await page.fill("[name=email]", "ada@a.example");
    await page.fill("[name=password]", "secret");
    await page.route("**/__web/form/**", (route) => route.abort());
    await page.click("button >> nth=0");
    await expect.poll(() => status(page)).toBe(UNREACHABLE);
    expect(await fieldsOf(page)).toMatchObject({ email: "ada@a.example", password: "secret" });
    await page.unroute("**/__web/form/**");
    await page.route("**/__web/form/**", (route) => route.fulfill({ status: 413, body: "<h1>Too large</h1>" }));
    await page.click("button >> nth=0");
    await expect.poll(() => status(page)).toMatch(/^error validation_error .*413/);
    await page.unroute("**/__web/form/**");
    await page.click("button >> nth=0");
    await expect.poll(() => status(page)).toMatch(/^result/);
    app.users.problems.splice(0); // the failed request
  });

  it.each(["text", "requestSubmit"])(
    "is sent by the browser when the code that sends it cannot be loaded, with a field #%s",
    async (id) => {
      const page = await app.users.newPage();
      await page.route("**/form-sending-*.js", (route) => route.fulfill({ status: 404 }), { times: 1 });
      await page.goto("/buttons");
      await waitUntilAlive(page);
      await page.evaluate((id) => document.querySelector("[name=text]")?.setAttribute("id", id), id);
      await page.click("text=Second");
      await expect.poll(() => status(page)).toBe('result "hi/second"');
      expect(new URL(page.url()).search).toMatch(/^\?__form=note\.[0-9a-z]{13}\.[\w-]{6}$/);
      expect(await app.takeCalls()).toEqual(["note hi"]);
      expect(app.users.problems.splice(0)).toEqual([expect.stringContaining("404")]); // nothing but the missing script
    },
  );

  it("is not sent when the application prevents it", async () => {
    const page = await app.visit("/buttons");
    await page.click("#prevent");
    await page.click("text=First");
    expect(await app.takeCalls()).toEqual([]);
    await page.click("#prevent");
    await page.click("text=First");
    await expect.poll(() => status(page)).toBe('result "hi/first"');
  });

  it("clears errors and fields on reset()", async () => {
    const page = await app.visit("/registration");
    await page.fill("[name=email]", "taken@a.example");
    await page.click("button >> nth=0");
    await expect.poll(() => page.locator("[aria-invalid]").count()).toBe(1);
    await page.click("#reset");
    await expect.poll(() => status(page)).toBe("");
    expect(await page.inputValue("[name=email]")).toBe("");
    expect(await page.locator("[aria-invalid]").count()).toBe(0);
  });

  it("resets the state of fields that the view controls", async () => {
    const page = await app.visit("/controlled");
    await page.fill("[name=email]", "ada@a.example");
    await page.check("[name=terms]");
    await page.fill("textarea", "New");
    await page.click("button");
    const initial = { email: "", age: "20", terms: false, about: "" };
    await expect.poll(async () => JSON.parse((await page.textContent("code")) ?? "")).toEqual(initial);
    expect(await fieldsOf(page)).toMatchObject(initial);
  });

  it("keeps the state of a list when the forms change their places", async () => {
    const page = await app.visit("/rows");
    const row = (id: string) => page.locator("li", { has: page.locator(`form[aria-label=${id}]`) });
    await row("a").locator("button").click();
    await expect.poll(() => row("a").locator("em").textContent()).toBe("Enter a name.");
    await row("b").locator("[name=name]").fill("typed");
    await page.click("#reverse");
    await expect.poll(() => page.locator("form").last().getAttribute("aria-label")).toBe("a");
    expect(await row("a").locator("em").textContent()).toBe("Enter a name.");
    expect(await row("b").locator("[name=name]").inputValue()).toBe("typed");
  });
});

describe("a form whose script comes late", () => {
  it("keeps what was typed until then, also in the state of the view", async () => {
    const page = await app.users.newPage();
    let arrive: (() => void) | undefined;
    await page.route("**/assets/views-*.js", async (route) => {
      await new Promise<void>((resolve) => {
        arrive = resolve;
      });
      await route.continue();
    });
    await page.goto("/controlled", { waitUntil: "commit" });
    await page.fill("[name=email]", "early@a.example");
    await page.fill("textarea", "early");
    await expect.poll(() => arrive).toBeDefined();
    arrive?.();
    await waitUntilAlive(page);
    const typed = { email: "early@a.example", age: "20", terms: false, about: "early" };
    await expect.poll(async () => JSON.parse((await page.textContent("code")) ?? "")).toEqual(typed);
    expect(await fieldsOf(page)).toMatchObject(typed);
  });
});

describe("a form that was refused before the script has come", () => {
  it("starts with what was typed and with the errors, and is then sent in the background", async () => {
    const page = await sendWithoutScript("/registration", {
      email: "taken@a.example",
      password: "secret",
      age: "17",
      about: "typed",
    });
    expect(await status(page)).toBe("error conflict Not registered.");
    expect(await fieldsOf(page)).toMatchObject({ email: "taken@a.example", password: "", age: "17", about: "typed" });
    expect(await page.locator("[name=email]:focus").count()).toBe(1);
    await page.evaluate("globalThis.isSame = true");
    await page.fill("[name=email]", "ada@a.example");
    await page.click("button >> nth=0");
    await expect.poll(() => status(page)).toMatch(/^result.*typed/);
    expect(await page.evaluate("globalThis.isSame")).toBe(true);
    expect(await page.locator("[aria-invalid]").count()).toBe(0);
    expect(await page.inputValue("[name=email]")).toBe(""); // not the value that was refused
  });

  it("passes what was typed to the state of the view", async () => {
    const page = await sendWithoutScript("/controlled", { email: "taken@a.example", age: "17", about: "typed" });
    const typed = { email: "taken@a.example", age: "17", terms: false, about: "typed" };
    await expect.poll(async () => JSON.parse((await page.textContent("code")) ?? "")).toEqual(typed);
    expect(await fieldsOf(page)).toMatchObject(typed);
  });

  it("keeps its summary, and replaces it with that of the next refusal", async () => {
    const page = await sendWithoutScript("/summary", { email: "taken@a.example", age: "17" });
    expect(await page.locator("[role=alert] li").count()).toBe(2);
    await page.fill("[name=age]", "30");
    await page.click("button");
    await expect.poll(() => page.locator("[role=alert] li").count()).toBe(1);
    expect(await page.getAttribute("[name=age]", "aria-invalid")).toBeNull();
    expect(await page.getAttribute("[name=age]", "aria-describedby")).toBeNull();
    expect(await page.inputValue("[name=email]")).toBe("taken@a.example");
  });

  it("shows the result when it was accepted", async () => {
    const page = await sendWithoutScript("/registration", { email: "ada@a.example" });
    expect(await status(page)).toMatch(/^result/);
    expect(await page.inputValue("[name=email]")).toBe("");
  });
});

describe("a form of a view that is redirected", () => {
  it("can be sent again after Back", () =>
    withFullBrowser({ baseURL: app.address }, async (users) => {
      const page = await app.visit("/leave", {}, users);
      await page.click("button");
      expect(await textOf(page, "h1")).toBe("Done");
      await goBack(page);
      await waitUntilAlive(page);
      await expect.poll(() => status(page)).toBe("");
      await page.click("button");
      expect(await textOf(page, "h1")).toBe("Done");
      expect(await app.takeCalls()).toHaveLength(2);
    }));

  it("cannot be sent again while the next page is opened", async () => {
    const page = await app.visit("/leave");
    let open: (() => void) | undefined;
    await page.route("**/done*", async (route) => {
      await new Promise<void>((resolve) => {
        open = resolve;
      });
      await route.continue();
    });
    let clicks = 0;
    page.on("console", (message) => {
      if (open && message.text() === "clicked") clicks++;
    });
    await page.evaluate(() => {
      const button = document.querySelector("button");
      setInterval(() => {
        button?.click();
        console.log("clicked");
      }, 50);
    });
    await expect.poll(() => clicks).toBeGreaterThan(3); // while the browser waits for the next page
    expect(await app.takeCalls()).toEqual(["leave /done?from=leave"]);
    open?.();
    expect(await textOf(page, "h1")).toBe("Done");
  });
});

describe("the CSRF token of a form", () => {
  it("is refreshed when another tab has signed in", async () => {
    const page = await app.visit("/members");
    await page.evaluate(async () => {
      await fetch("/__web/rpc/sign_in", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"args":{"user":"ada"}}',
      });
    });
    await page.fill("[name=text]", "hello");
    const responses: number[] = [];
    page.on("response", (response) => {
      if (response.url().includes("/__web/form/")) responses.push(response.status());
    });
    await page.click("button");
    await expect.poll(() => app.takeCalls()).toEqual(["members hello"]);
    await expect.poll(() => responses).toEqual([403, 200]);
    expect(await page.locator("[role=alert]").count()).toBe(0);
  });

  it("and the end of the session leave what was typed in place", async () => {
    const page = await app.visit("/members");
    await page.context().clearCookies();
    await page.fill("[name=text]", "hello");
    await page.click("button");
    await textOf(page, "[role=alert]");
    expect(await page.inputValue("[name=text]")).toBe("hello");
  });
});

describe("reset() of a form that is being sent", () => {
  const failedRequest = (page: Page) =>
    page.waitForEvent("requestfailed", (request) => /__web.form/.test(request.url()));

  it("ends the request, and its result is not shown", async () => {
    const page = await app.visit("/slow");
    await page.fill("[name=text]", "late");
    await page.click("button >> nth=0");
    await expect.poll(() => app.takeCalls()).toEqual(["slow late"]);
    const failed = failedRequest(page);
    await page.click("#reset");
    expect((await failed).failure()?.errorText).toBe("net::ERR_ABORTED");
    await expect.poll(() => status(page)).toBe("");
    await page.evaluate("fetch('/release')");
    await page.fill("[name=text]", "again");
    await page.click("button >> nth=0");
    await expect.poll(() => app.takeCalls()).toEqual(["slow again"]);
    expect(await status(page)).toBe("pending");
    await page.evaluate("fetch('/release')");
    await expect.poll(() => status(page)).toBe('result "again"');
  });

  it("ends an upload whose progress is shown", async () => {
    const page = await app.visit("/progress");
    const sent = new Promise<void>((resolve) => void page.route("**/__web/form/**", () => resolve())); // never answered
    await page.setInputFiles("[type=file]", {
      name: "a.bin",
      mimeType: "application/octet-stream",
      buffer: Buffer.alloc(9),
    });
    await page.click("button >> nth=0");
    await sent;
    const failed = failedRequest(page);
    await page.click("#reset");
    expect((await failed).failure()?.errorText).toBe("net::ERR_ABORTED");
    await expect.poll(() => status(page)).toBe("");
    expect(await page.inputValue("[type=file]")).toBe("");
  });
});

describe("an upload", () => {
  const file = { name: "a.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(3_000_000) };

  it("reports its progress to a view that shows it", async () => {
    const page = await app.visit("/progress");
    await page.setInputFiles("[type=file]", file);
    await page.fill("[name=caption]", "large");
    await page.click("button");
    await expect.poll(() => status(page)).toBe('result "a.bin: 3000000 large"');
    const seen: number[] = JSON.parse((await page.textContent("code")) ?? "");
    expect(seen[0]).toBe(0);
    expect(seen).toContain(1);
    expect(seen.every((value) => value >= 0 && value <= 1)).toBe(true);
  });

  it.each(["/upload", "/progress"])("shows that the server is unreachable: %s", async (path) => {
    const page = await app.visit(path);
    await page.route("**/__web/form/**", (route) => route.abort());
    await page.setInputFiles("[type=file]", { ...file, buffer: Buffer.alloc(10) });
    await page.click("button");
    await expect.poll(() => status(page)).toBe(UNREACHABLE);
    app.users.problems.splice(0); // the failed request
  });
});
