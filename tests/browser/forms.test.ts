/**
 * Forms of server functions in Chromium: the same behaviour with script and without.
 */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
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

/** Returns the result that a page shows. */
const result = async (page: Page) =>
  JSON.parse((await textOf(page, "output:not(:text('pending'))")).slice("result ".length));

describe.each([
  { script: "on", javaScriptEnabled: true },
  { script: "off", javaScriptEnabled: false },
])("with script $script, a form", ({ javaScriptEnabled }) => {
  const visit = (path: string) => app.visit(path, { javaScriptEnabled });

  it("passes its fields to the function, by name and type, and shows the result", async () => {
    const page = await visit("/registration");
    await page.fill("[name=email]", "ada@a.example");
    await page.fill("[name=password]", "secret");
    await page.check("[name=tags][value=b]");
    await page.fill("textarea", "Two\nlines");
    await page.click("button >> nth=0");
    const about = "Two\nlines";
    expect(await result(page)).toEqual({
      email: "ada@a.example",
      length: 6,
      age: 20,
      terms: false,
      tags: ["b"],
      about,
    });
    expect(await app.takeCalls()).toEqual(["register ada@a.example"]);
    expect(new URL(page.url()).search).toMatch(
      javaScriptEnabled ? /^$/ : /^\?__form=register\.[0-9a-z]{13}\.[\w-]{6}$/,
    );
  });

  it("keeps what was typed when it is refused, except passwords without script, shows all errors, and can be corrected and sent with Enter", async () => {
    const page = await visit("/registration");
    await page.fill("[name=email]", "taken@a.example");
    await page.fill("[name=password]", "secret");
    await page.fill("[name=age]", "17");
    await page.check("[name=terms]");
    await page.check("[name=tags][value=a]");
    await page.fill("textarea", "<b>");
    await page.click("button >> nth=0");
    await expect.poll(() => page.textContent("output")).toBe("error conflict Not registered.");
    expect(await page.textContent("#email-error")).toBe("This address is registered already.");
    expect(await page.textContent("#age-error")).toBe("You must be 18.");
    expect(await fieldsOf(page)).toEqual({
      email: "taken@a.example",
      password: javaScriptEnabled ? "secret" : "",
      age: "17",
      terms: true,
      "tags a": true,
      "tags b": false,
      about: "<b>",
    });
    for (const name of ["email", "age"]) {
      expect(await page.getAttribute(`[name=${name}]`, "aria-invalid")).toBe("true");
    }
    expect(await page.getAttribute("textarea", "aria-invalid")).toBeNull();
    await expect.poll(() => page.locator("[name=email]:focus").count()).toBe(1);
    expect(await page.locator("[role=alert]").count()).toBe(0); // the handle shows the errors
    expect(await app.takeCalls()).toEqual(["register taken@a.example"]);

    await page.fill("[name=email]", "ada@a.example");
    await page.fill("[name=age]", "many");
    await page.click("button >> nth=0");
    await expect.poll(() => page.textContent("#age-error")).toMatch(/whole number/); // the message of coercion
    expect(await page.textContent("#email-error")).toBe("");
    await expect.poll(() => page.locator("[name=age]:focus").count()).toBe(1);
    expect(await app.takeCalls()).toEqual([]);

    await page.fill("[name=age]", "17");
    await page.press("[name=email]", "Enter");
    await expect.poll(() => page.textContent("output")).toMatch(/^result/);
    const sent = { email: "ada@a.example", age: 17, terms: true, tags: ["a"], about: "<b>" };
    expect(await result(page)).toMatchObject(sent);
    expect(await page.locator("[aria-invalid]").count()).toBe(0);
    expect(await page.textContent("#age-error")).toBe("");
  });

  it("keeps the text of a controlled textarea when it is refused, with its first line feed each time", async () => {
    const page = await visit("/controlled");
    await page.fill("[name=email]", "taken@a.example");
    for (const about of ["\nTwo\nlines", "\n\nmore"]) {
      await page.fill("textarea", about);
      for (let time = 0; time < 2; time++) {
        await page.click("button"); // which takes the focus; the refusal gives it to the refused field
        await expect.poll(() => page.locator("[name=email][aria-invalid]:focus").count()).toBe(1);
        expect(await page.inputValue("textarea")).toBe(about);
      }
    }
    expect(await app.takeCalls()).toEqual(Array(4).fill("register taken@a.example"));
  });

  it("is not sent while the browser finds it invalid, except by a button with formnovalidate", async () => {
    const page = await visit("/registration");
    await page.fill("[name=email]", "no address");
    await page.click("button >> nth=0");
    await expect.poll(() => page.locator("[name=email]:focus").count()).toBe(1);
    expect(await app.takeCalls()).toEqual([]);
    await page.click("[formnovalidate]");
    expect(await result(page)).toMatchObject({ email: "no address", tags: [], terms: false });
  });

  it("without a handle shows a summary that its fields refer to", async () => {
    const page = await visit("/summary");
    await page.fill("[name=email]", "taken@a.example");
    await page.fill("[name=age]", "17");
    await page.click("button");
    const items = page.locator("form > [role=alert] li");
    await expect.poll(() => items.count()).toBe(2);
    expect(await items.allTextContents()).toEqual([
      "Email: This address is registered already.",
      "Age: You must be 18.",
    ]);
    const ids = await page.evaluate(() =>
      Array.from(document.querySelectorAll("form > [role=alert] li"), ({ id }) => id),
    );
    expect(await page.getAttribute("[name=email]", "aria-describedby")).toBe(`hint ${ids[0]}`);
    expect(await page.getAttribute("[name=age]", "aria-describedby")).toBe(ids[1]);
    expect(await page.getAttribute("[name=password]", "aria-describedby")).toBeNull();
    await expect.poll(() => page.locator("[name=email]:focus").count()).toBe(1);

    await page.fill("[name=email]", "ada@a.example");
    await page.click("button");
    await expect.poll(() => items.count()).toBe(0);
    expect(await page.getAttribute("[name=email]", "aria-describedby")).toBe("hint");
    expect(await page.getAttribute("[name=age]", "aria-describedby")).toBeNull();
    expect(await page.locator("[aria-invalid]").count()).toBe(0);
  });

  it("passes the name and value of its button, and calls the function of the button", async () => {
    const page = await visit("/buttons");
    await page.click("text=Second");
    expect(await result(page)).toBe("hi/second");
    await page.fill("[name=text]", "later");
    await page.click("text=First");
    await expect.poll(() => result(page)).toBe("later/first");
    await page.fill("[name=text]", "x");
    await page.press("[name=text]", "Enter");
    await expect.poll(() => result(page)).toBe("x/first");
    await page.fill("[name=text]", "y");
    await page.click("button:text('Discard')");
    await expect.poll(() => result(page)).toBe("discarded y");
    await page.fill("[name=text]", "z");
    await page.click("input[type=submit]");
    await expect.poll(() => result(page)).toBe("discarded z");
    expect(await app.takeCalls()).toEqual(["note hi", "note later", "note x", "discard y", "discard z"]);
  });

  it("leaves buttons with another method or address to the browser", async () => {
    const page = await visit("/buttons");
    await page.click("text=Search");
    expect(await textOf(page, "h1")).toBe("Search");
    const again = await visit("/buttons");
    await again.click("text=Close");
    await expect.poll(() => again.locator("dialog[open]").count()).toBe(0);
    expect(await app.takeCalls()).toEqual([]);
  });

  it("leaves a button that opens another window to the browser, which shows the result there", async () => {
    const page = await visit("/buttons");
    const [opened] = await Promise.all([page.context().waitForEvent("page"), page.click("text=Preview")]);
    await expect.poll(() => result(opened)).toBe("hi/tab");
    expect(await page.textContent("output")).toBe("");
    expect(await app.takeCalls()).toEqual(["note hi"]);
  });

  it("of many of one function shows only its own result", async () => {
    const page = await visit("/rows");
    const row = (id: string) => page.locator("li", { has: page.locator(`form[aria-label=${id}]`) });
    await row("b").locator("[name=name]").fill("Bea");
    await row("b").locator("button").click();
    await expect.poll(() => row("b").locator("output").textContent()).toBe("b is Bea");
    await row("c").locator("button").click();
    await expect.poll(() => row("c").locator("em").textContent()).toBe("Enter a name.");
    expect(await page.locator("[aria-invalid]").count()).toBe(1);
    expect(await row("a").locator("em").textContent()).toBe("");
    expect(await app.takeCalls()).toEqual(["rename b Bea", "rename c "]);
  });

  it("follows the redirect of the function", async () => {
    const page = await visit("/leave");
    await page.click("button");
    expect(await textOf(page, "h1")).toBe("Done");
    expect(new URL(page.url()).search).toBe("?from=leave");
    expect(await app.takeCalls()).toEqual(["leave /done?from=leave"]);
  });

  it("sends files", async () => {
    const page = await visit("/upload");
    await page.setInputFiles("[type=file]", { name: "ä.png", mimeType: "image/png", buffer: Buffer.alloc(200_000) });
    await page.fill("[name=caption]", "nice");
    await page.click("button");
    expect(await result(page)).toBe("ä.png: 200000 nice");
  });

  it("in a page works next to that of a view", async () => {
    const page = await visit("/both");
    await page.fill("#page-form [name=text]", "here");
    await page.click("#page-form button");
    await expect.poll(() => page.textContent("#page-form output")).toBe('"here/-"');
    expect(new URL(page.url()).search).toMatch(/^\?__form=note\.[0-9a-z]{13}\.[\w-]{6}$/); // not sent in the background
    await page.fill("#page-form [name=text]", "refuse");
    await page.click("#page-form button");
    await expect.poll(() => page.textContent("#page-form output")).toBe("Notes are closed.");
    expect(await page.inputValue("#page-form [name=text]")).toBe("refuse");
    await page.fill(".registration [name=email]", "ada@a.example");
    await page.click(".registration button >> nth=0");
    await expect.poll(() => page.locator("output").last().textContent()).toMatch(/ada@a\.example/);
  });

  it("in a page without views is refused and corrected", async () => {
    const page = await app.users.reusePage({ javaScriptEnabled });
    await page.goto("/on-page");
    expect(await page.locator("script").count()).toBe(0);
    await page.fill("[name=email]", "taken@a.example");
    await page.click("button");
    expect(await textOf(page, "em")).toBe("This address is registered already.");
    await page.fill("[name=email]", "ada@a.example");
    await page.click("button");
    expect(JSON.parse(await textOf(page, "output"))).toMatchObject({ email: "ada@a.example" });
  });

  it("of a function that requires a signed-in user is refused in place", async () => {
    const page = await visit("/members");
    await page.fill("[name=text]", "hello");
    await page.click("button");
    await textOf(page, "form > [role=alert]");
    expect(await page.inputValue("[name=text]")).toBe("hello");
    await expect.poll(() => page.locator("[role=alert]:focus").count()).toBe(1);
    expect(await app.takeCalls()).toEqual([]);
  });
});

describe("a server function as an action", () => {
  it("never becomes text of the document, however the element is created", async () => {
    const page = await app.visit("/indirect");
    await page.click("#show");
    await page.locator("#later").waitFor();
    await page.click("#ref");
    expect(await page.title()).toBe("FORM");
    const attributes = await page
      .locator("form, [formaction]")
      .evaluateAll((elements) =>
        elements.map(({ id, attributes: list }) => [id, ...Array.from(list, ({ name, value }) => `${name}=${value}`)]),
      );
    expect(attributes.map(([id]) => id)).toEqual(["spread", "created", "", "other", "later", "later-other"]);
    for (const [, ...list] of attributes) {
      expect(list.filter((text) => /=>|function|\[object/.test(text))).toEqual([]);
      expect(list).toContainEqual(expect.stringMatching(/^(form)?action=\/indirect\?__form=(note|discard)/));
      expect(list).toContainEqual(expect.stringMatching(/^(form)?method=post$/));
      expect(list).toContainEqual(expect.stringMatching(/^(form)?enctype=multipart\/form-data$/));
    }
  });

  it("works in a form that the browser has created", async () => {
    const page = await app.visit("/indirect");
    await page.click("#show");
    await page.fill("#later [name=text]", "made here");
    await page.click("#later button >> nth=0");
    await expect.poll(() => app.takeCalls()).toEqual(["note made here"]);
    await page.fill("#later [name=text]", "away");
    await page.click("#later-other");
    await expect.poll(() => app.takeCalls()).toEqual(["discard away"]);
    expect(new URL(page.url()).search).toBe("");
  });

  it.each([
    { path: "/plain", hasForms: false },
    { path: "/members", hasForms: true },
  ])("loads the code for forms: $hasForms for $path", async ({ path, hasForms }) => {
    const page = await app.users.newPage();
    await page.goto(path);
    await waitUntilAlive(page);
    const urls: string[] = await page.evaluate(
      "performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.endsWith('.js'))",
    );
    expect(urls.length).toBeGreaterThan(1);
    const scripts = await Promise.all(urls.map(async (url) => (await fetch(url)).text()));
    expect(scripts.join("").includes("__form")).toBe(hasForms);
    expect(urls.join("")).not.toContain("form-sending");
  });
});

describe("a <select> with `defaultValue`", () => {
  /** Returns the selected values of each element, by name. */
  const selected = (page: Page) =>
    page.evaluate(() =>
      Object.fromEntries(
        [...document.querySelectorAll("select")].map((select) => [
          select.name,
          [...select.selectedOptions].map(({ value }) => value),
        ]),
      ),
    );
  const created = { one: ["2"], many: ["a", "c"], spread: ["c"], unknown: ["a"] };

  it("has its options selected where the browser creates it, also when its form is reset", async () => {
    const page = await app.visit("/choices");
    expect(await selected(page)).toEqual({ hydrated: ["b"] });
    await page.click("text=Show");
    expect(await selected(page)).toEqual({ hydrated: ["b"], ...created });
    await page.selectOption("[name=many]", "b");
    await page.selectOption("[name=one]", "1");
    await page.click("text=Reset");
    expect(await selected(page)).toEqual({ hydrated: ["b"], ...created });
    expect(await page.locator("[defaultvalue]").count()).toBe(0);
  });

  it("keeps what the user selects, before hydration and when it is rendered with another one", async () => {
    const page = await app.users.newPage();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/*.js", (route) => held.then(() => route.continue()));
    await page.goto("/choices", { waitUntil: "commit" });
    await page.selectOption("[name=hydrated]", "a");
    release();
    await waitUntilAlive(page);
    expect(await selected(page)).toEqual({ hydrated: ["a"] });
    await page.click("text=Show");
    await page.selectOption("[name=one]", "1");
    await page.selectOption("[name=many]", ["b", "c"]);
    await page.click("text=Show");
    await expect.poll(() => page.textContent("button")).toBe("Show 2");
    expect(await selected(page)).toEqual({ hydrated: ["a"], ...created, one: ["1"], many: ["b", "c"] });
    expect(await page.locator("[defaultvalue]").count()).toBe(0);
  });
});
