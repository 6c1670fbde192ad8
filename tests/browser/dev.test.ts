/**
 * The development server in Chromium: what a page receives, the effect of edits, and errors.
 */
import type { Page } from "playwright-core";
import { afterEach, describe, expect, it } from "vitest";
import { IS_MATRIX } from "#test/matrix";
import { textOfPages } from "#test/received-text";
import { styleOf } from "./chromium.ts";
import { testErrors } from "./dev-errors.ts";
import {
  closeHome,
  dev,
  edit,
  edits,
  expectStateKept,
  isSamePage,
  openHome,
  openPage,
  project,
  recordOutput,
  restores,
  takeProblems,
  useDevProject,
  users,
  waitForEdits,
  waitForEffect,
} from "./dev-project.ts";

useDevProject();

describe("an error", testErrors);

describe("the first page", () => {
  it("is hydrated, with its style sheets and images", async () => {
    await closeHome(); // that of the test before
    const page = await openHome();
    expect(await page.textContent("#count")).toBe("4");
    await page.click("#greet");
    await page.locator("#greeting", { hasText: "Hello Ada" }).waitFor();
    await page.click("#note");
    await page.locator("#note", { hasText: "Open" }).waitFor();
    expect(await styleOf(page, "h1", "color")).toBe("rgb(10, 20, 30)");
    expect(await styleOf(page, "#name + button + p", "color")).toBe("rgb(1, 2, 3)");
    expect(await styleOf(page, "#counter", "border-top-color")).toBe("rgb(7, 8, 9)");
    expect(await styleOf(page, "#note", "color")).toBe("rgb(40, 50, 60)");
    expect(await page.evaluate(() => document.querySelector("img")?.naturalWidth)).toBeGreaterThan(0);
  });

  it("has only the scripts of the development server on a page without views", async () => {
    const page = await openPage();
    await page.goto("/plain");
    const scripts = await page.evaluate(() => Array.from(document.scripts, (each) => each.getAttribute("src")));
    expect(scripts).toEqual([
      "/__web/dev/@vite/client",
      "/__web/dev/@id/virtual:tsweb/errors",
      "/__web/dev/@id/virtual:tsweb/policy-violations",
    ]);
  });
});

it("a browser receives no text of a server module, with the scripts of its views [RESPONSE-31]", async () => {
  const received = await textOfPages(await openPage(), ["/", "/plain"]);
  expect(received.some(({ text }) => text.includes("showGreeting"))).toBe(true); // of the view
  for (const file of ["functions.server.ts", "pages.server.tsx"]) {
    expect(received.some(({ name }) => name.includes(file) && !name.includes("tsweb-stub"))).toBe(false);
  }
  for (const [file, secret] of [
    ["functions.server.ts", "not for browsers"],
    ["functions.server.ts", "Creates one file"],
    ["functions.server.ts", "writeFileSync"],
    ["pages.server.tsx", "Broken on purpose"],
  ] as const) {
    expect(project.read(`src/${file}`)).toContain(secret);
    expect(received.filter(({ text }) => text.includes(secret)).map(({ name }) => name)).toEqual([]);
  }
});

describe("an edit", () => {
  it.each(IS_MATRIX ? [5, 15, 30, 45] : [45])(
    "that an editor writes in two steps, %i ms apart, takes effect as a whole",
    async (delayMs) => {
      const text = project.read("src/functions.server.ts");
      await waitForEffect(async () => {
        project.write("src/functions.server.ts", ""); // an editor may truncate the file before it writes the new text
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        project.write("src/functions.server.ts", text);
      });
      await closeHome();
      await openHome(); // loads the page
    },
  );

  it("of a view, its state, a component inside it and a view that is a default export is shown, and keeps the state", async () => {
    const page = await openHome();
    edit("counter.tsx", "More\n", "Still more\n");
    await page.locator("#more", { hasText: "Still more" }).waitFor();
    await expectStateKept(page);
    edit("counter.tsx", "isMounted: false }", "isMounted: false, tries: 7 }");
    edit("counter.tsx", "Still more\n", "More {own.tries}\n");
    await page.locator("#more", { hasText: "More 7" }).waitFor();
    await expectStateKept(page);
    edit("badge.tsx", "{text}", "{text} of honour");
    await page.locator("#badge", { hasText: "Badge of honour" }).waitFor();
    await expectStateKept(page);
    await page.click("#note");
    edit("note.tsx", '"Open"', '"Wide open"');
    await page.locator("#note", { hasText: "Wide open" }).waitFor();
    await expectStateKept(page);
    await page.click("#more");
    expect(await page.textContent("#count")).toBe("5");
  });

  it("that adds a form to a view shows in the terminal which field is missing, without a reload", async () => {
    const page = await openHome();
    const output = recordOutput();
    edit("counter.tsx", '<p id="greeting">', '<form action={greet}><input name="nmae" /></form><p id="greeting">');
    await page.locator("[name=nmae]").waitFor();
    const form = /The form of greet \(src\/counter\.tsx:\d+:\d+\) has/;
    await expect.poll(output).toMatch(new RegExp(`${form.source} no field for the required parameter name`));
    await expect.poll(output).toMatch(new RegExp(`${form.source} a field "nmae" that is no parameter`));
    await expectStateKept(page);
  });

  it("that adds a state above another one starts with new states", async () => {
    const page = await openHome();
    edit("counter.tsx", "const own =", 'const filter = state({ count: 10, name: "all" });\n  const own =');
    edit("counter.tsx", "More\n", "More {filter.name}\n");
    await page.locator("#more", { hasText: "More all" }).waitFor();
    expect([await page.textContent("#count"), await page.inputValue("#name")]).toEqual(["3", ""]);
    await page.click("#more");
    expect(await page.textContent("#count")).toBe("4");
    expect(await isSamePage(page)).toBe(true);
  });

  it("of a style sheet updates the page without a reload: of the application, a page, a view, and a CSS module", async () => {
    const page = await openHome();
    for (const [file, color, selector, property] of [
      ["app.css", "rgb(1, 2, 3)", "#greeting", "color"],
      ["pages.css", "rgb(10, 20, 30)", "h1", "color"],
      ["counter.css", "rgb(7, 8, 9)", "#counter", "border-top-color"],
      ["note.module.css", "rgb(40, 50, 60)", "#note", "color"],
    ] as const) {
      const newColor = "rgb(200, 100, 50)";
      const restore = edit(file, color, newColor);
      await expect.poll(() => styleOf(page, selector, property), { message: file }).toBe(newColor);
      await expectStateKept(page);
      await waitForEdits();
      restore();
      await expect.poll(() => styleOf(page, selector, property), { message: file }).toBe(color);
      await waitForEdits();
    }
  });

  it("of a page's markup, and of a server function, reloads the page, and takes effect", async () => {
    const page = await openHome();
    edit("pages.server.tsx", "Home page", "Another home");
    await page.locator("h1", { hasText: "Another home" }).waitFor();
    await page.locator("#counter[data-hydrated=true]").waitFor();
    expect(await isSamePage(page)).toBe(false);
    await waitForEdits();
    await page.evaluate(() => Object.assign(window, { isSamePage: true }));
    edit("functions.server.ts", "Hello", "Good morning");
    await expect.poll(() => isSamePage(page).catch(() => true)).toBe(false); // the page cannot be evaluated while it reloads
    await page.locator("#counter[data-hydrated=true]").waitFor();
    await page.fill("#name", "Ada");
    await page.click("#greet");
    await page.locator("#greeting", { hasText: "Good morning Ada" }).waitFor();
  });

  it.each([
    ["a server module", "pages.server.tsx", "Home page", "Later home", "h1"],
    ["a view", "counter.tsx", "More\n", "Even more\n", "#more"],
  ])(
    "of %s takes effect in a page that has loaded it and is not connected yet, beside one that is connected",
    async (_of, file, before, after, selector) => {
      await openHome();
      const page = await users.newPage();
      let connect = () => {};
      const connected = new Promise<void>((resolve) => (connect = resolve));
      await page.routeWebSocket(/__web\/dev/, async (socket) => {
        await connected;
        socket.connectToServer();
      });
      await page.goto("/");
      await page.locator("#counter[data-hydrated=true]").waitFor();
      await waitForEffect(() => edit(file, before, after));
      expect(await page.textContent(selector)).not.toContain(after.trim());
      connect();
      await page.locator(selector, { hasText: after.trim() }).waitFor();
    },
  );

  it("that no page has received does not reload a page that is requested later", async () => {
    const page = await openPage();
    await waitForEffect(() => edit("pages.server.tsx", "Home page", "Later home"));
    await page.goto("/");
    await page.locator("#counter[data-hydrated=true]").waitFor();
    edit("counter.tsx", "More\n", "Even more\n");
    await page.locator("#more", { hasText: "Even more" }).waitFor(); // it is sent after the reload of a late page
    const [navigation] = await page.evaluate(() =>
      performance.getEntriesByType("navigation").map((each) => each.toJSON()),
    );
    expect(navigation.type).toBe("navigate");
  });

  it.each(IS_MATRIX ? ["server module first", "view first"] : ["view first"])(
    "of a view that imports a new server function, saved together with it, causes no error in the browser: %s",
    async (order) => {
      const page = await openHome();
      const view = project.read("src/counter.tsx");
      const newView = view
        .replace("{ greet }", "{ greet, wave }")
        .replace('<p id="greeting">', '<p id="waves">{typeof wave}</p><p id="greeting">');
      const saves = [
        () => edit("functions.server.ts", "/** Creates", 'export const wave = server(() => "Waves");\n\n/** Creates'),
        () => edit("counter.tsx", view, newView),
      ];
      for (const save of order === "view first" ? saves.reverse() : saves) save();
      await page.locator("#waves").waitFor();
      await page.locator("#counter[data-hydrated=true]").waitFor();
      expect(takeProblems()).toEqual([]);
    },
  );

  it.each(IS_MATRIX ? ["page first", "view first"] : ["view first"])(
    "of a view and of the props that its page passes to it, saved together, causes no error in the browser: %s",
    async (order) => {
      const page = await openHome();
      const view = project.read("src/counter.tsx");
      const newView = view
        .replace("({ start }: { start: number })", "({ numbers }: { numbers: number[] })")
        .replace("count: start", "count: 0")
        .replace('<p id="greeting">', '<p id="sum">{numbers.map((each) => each * 2)}</p><p id="greeting">');
      const saves = [
        () => edit("pages.server.tsx", "start={3}", "numbers={[3]}"),
        () => edit("counter.tsx", view, newView),
      ];
      for (const save of order === "view first" ? saves.reverse() : saves) save();
      await page.locator("#sum", { hasText: "6" }).waitFor();
      await page.locator("#counter[data-hydrated=true]").waitFor();
      expect(takeProblems()).toEqual([]);
    },
  );

  it.each(IS_MATRIX ? [40, 90] : [40])(
    "of a server module and several of a view, %i ms apart, cause no error although the page may be older than the view",
    async (delayMs) => {
      const page = await openHome();
      const output = recordOutput();
      edit("functions.server.ts", "Hello", "Good morning");
      const last = 7;
      for (let save = 1; save <= last; save++) {
        edit("counter.tsx", save === 1 ? "More\n" : `More ${save - 1}\n`, `More ${save}\n`);
        await new Promise((resolve) => setTimeout(resolve, delayMs));
      }
      await waitForEdits();
      const isCurrent = async () => {
        const html = await (await fetch(dev.address)).text();
        return html.includes(`More ${last}`) && (await page.textContent("#more"))?.trim() === `More ${last}`;
      };
      await expect.poll(() => isCurrent().catch(() => false)).toBe(true); // the page cannot be evaluated while it reloads
      await page.locator("#counter[data-hydrated=true]").waitFor();
      expect(takeProblems()).toEqual([]);
      expect(output()).not.toContain("other markup");
    },
  );

  it("that adds a server module takes effect without a restart", async () => {
    project.write(
      "src/more.server.tsx",
      'import { page } from "tsweb";\nexport const more = page("/more", () => <h1>One more page</h1>);\n',
    );
    edit("app.ts", "[pages, functions]", "[pages, functions, more]");
    edit("app.ts", "import * as pages", 'import * as more from "./more.server.tsx";\nimport * as pages');
    await expect.poll(async () => (await fetch(`${dev.address}/more`)).status).toBe(200);
    const page = await openPage();
    await page.goto("/more");
    expect(await page.textContent("h1")).toBe("One more page");
  });
});

describe("a page that is the response to a form", () => {
  afterEach(() => {
    takeProblems(); // browsers report every response with 500
  });

  /** Adds a page whose form runs a function, and sends the form. */
  async function sendForm(body: string): Promise<Page> {
    project.write(
      "src/orders.server.tsx",
      'import { appendFileSync } from "node:fs";\nimport { form, page, server } from "tsweb";\n' +
        `export const order = server(() => {\n  appendFileSync("orders.txt", "x");\n  ${body}\n});\n` +
        'export const orders = page("/orders", () => (\n' +
        '  <form action={order}><p>{form(order).result ?? "none"}</p><button>Order</button></form>\n));\n',
    );
    const file = "orders.server.tsx";
    restores.push({ file, restore: () => project.write(`src/${file}`, "export {};\n") });
    project.write("orders.txt", "");
    edit("app.ts", "[pages, functions", "[orders, pages, functions");
    edit("app.ts", "import * as pages", 'import * as orders from "./orders.server.tsx";\nimport * as pages');
    await expect.poll(async () => (await fetch(`${dev.address}/orders`)).status).toBe(200);
    await waitForEdits();
    const page = await openPage();
    await page.goto("/orders");
    await page.click("button");
    return page;
  }

  it("is reloaded with GET after an edit: the function runs once", async () => {
    const page = await sendForm('return "Ordered";');
    await page.locator("p", { hasText: "Ordered" }).waitFor();
    await page.evaluate(() => {
      location.hash = "here";
    });
    edit("orders.server.tsx", '"none"', '"nothing"');
    await page.locator("p", { hasText: "nothing" }).waitFor();
    expect(project.read("orders.txt")).toBe("x");
  });

  it("is not reloaded because the function writes a file, but with GET after its error is fixed: the function runs once", async () => {
    const page = await sendForm('throw new Error("No stock");');
    await page.locator("h1", { hasText: "No stock" }).waitFor();
    await page.evaluate(() => Object.assign(window, { isSamePage: true }));
    const polled = () => page.waitForResponse((response) => response.url().endsWith("/__web/dev/@tsweb/edits"));
    await polled();
    const { count } = await edits();
    project.write("orders.txt", "xy");
    for (let polls = 0; polls < 4; polls++) await polled();
    expect((await edits()).count).toBe(count);
    expect(await isSamePage(page)).toBe(true);
    edit("orders.server.tsx", '"none"', '"nothing"');
    await page.locator("p", { hasText: "nothing" }).waitFor();
    expect(project.read("orders.txt")).toBe("xy");
  });
});
