import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { launch } from "./chromium.ts";
import {
  buildScripts,
  documentOf,
  IslandServer,
  island,
  loadViews,
  MARK,
  type Placed,
  type Views,
} from "./island-page.ts";

let browser: Browser;
let server: IslandServer;
let views: Views;
let page: Page;
/** Uncaught errors of the page and refusals of its policy. */
let errors: string[];

beforeAll(async () => {
  const [scripts, started, fixture] = await Promise.all([buildScripts(), launch(), loadViews()]);
  views = fixture;
  browser = started;
  server = new IslandServer(scripts);
  await server.start();
});

afterAll(async () => {
  await browser?.close();
  server?.stop();
});

beforeEach(async () => {
  page = await browser.newPage();
  errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await page.addInitScript(() => {
    addEventListener("error", ({ error }) => Object.assign(globalThis, { lastCause: String(error?.cause) }));
  });
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
});

afterEach(async () => {
  server.held.clear();
  await page.close();
});

/** Renders the views that are placed, each where the body says `{0}`, `{1}`, … */
function pageOf(body: string, placed: readonly Placed[], options?: { base?: string; head?: string }): string {
  const rendered = placed.map(({ name, props = {}, from }, index) => {
    if (from) return `<!--${MARK}:${index}--><!--/${MARK}:${index}-->`; // not rendered by a server: it makes calls
    return island(views, { name, props }, index);
  });
  const html = body.replace(/\{(\d)\}/g, (_, index) => rendered[Number(index)] ?? "");
  return server.page(documentOf(html, placed, options));
}

/** Lets a test change what a view exposes. */
function change(script: string): Promise<unknown> {
  return page.evaluate(`{ ${script} } new Promise((done) => setTimeout(done))`);
}

const html = (selector: string) => page.$eval(selector, (element) => element.innerHTML);
const alive = (name: string) => page.waitForFunction((key) => key in globalThis, name);

describe("hydration in place", () => {
  const rows = [
    { id: 1, name: "Ada" },
    { id: 2, name: "Grace" },
  ];

  test("keeps the elements of the server, in a table, between rows that are not its own", async () => {
    const release = server.hold("/assets/views.js");
    const body = "<table><tbody><tr id=before><td></tr>{0}<tr id=after><td></tr></tbody></table>";
    await page.goto(pageOf(body, [{ name: "Rows", props: { rows, name: "rows" } }]), { waitUntil: "commit" });
    await page.waitForSelector("#after");
    const before = await html("tbody");
    const firstRow = await page.$("#before + tr");
    release();
    await alive("rows");
    expect(await html("tbody")).toBe(before);
    await change("rows.rows[0].name = 'Augusta'");
    expect(await page.evaluate((row) => row?.isConnected && row.textContent, firstRow)).toBe("Augusta");
    expect(errors).toEqual([]);
  });

  test("grows, moves, shrinks to nothing and comes back between its comments", async () => {
    const body = "<table><tbody><tr id=before><td></tr>{0}{1}<tr id=after><td></tr></tbody></table>";
    const placed = [
      { name: "Rows", props: { rows, name: "one" } },
      { name: "Rows", props: { rows: [{ id: 9, name: "Joan" }], name: "two" } },
    ];
    await page.goto(pageOf(body, placed));
    await alive("two");
    const names = () =>
      page.$$eval("tbody > tr", (list) => list.map((row) => row.id || row.firstElementChild?.textContent).join(" "));
    const steps: [string, string][] = [
      ["one.rows.push({ id: 3, name: 'C' }, { id: 4, name: 'D' }, { id: 5, name: 'E' })", "Ada Grace C D E Joan"],
      ["one.rows.reverse()", "E D C Grace Ada Joan"],
      ["one.rows.unshift({ id: 6, name: 'F' })", "F E D C Grace Ada Joan"],
      ["one.rows.splice(1, 4); two.rows.push({ id: 8, name: 'Z' }, { id: 7, name: 'Y' })", "F Ada Joan Z Y"],
      ["one.rows.length = 0", "Joan Z Y"],
      ["two.rows.length = 0", ""],
      ["one.rows.push({ id: 1, name: 'A' }, { id: 2, name: 'B' }, { id: 3, name: 'C' })", "A B C"],
      ["two.rows = [{ id: 1, name: 'X' }, { id: 2, name: 'Y' }]", "A B C X Y"],
      ["one.rows = [2, 3, 1].map((id) => ({ id, name: 'n' + id })); two.rows = []", "n2 n3 n1"],
      ["two.rows.push({ id: 1, name: 'X' }, { id: 2, name: 'Y' }, { id: 3, name: 'W' })", "n2 n3 n1 X Y W"],
    ];
    for (const [step, shown] of steps) {
      await change(step);
      expect(await names(), step).toBe(`before ${shown} after`.replace("  ", " "));
    }
    const comments = await page.$eval("tbody", (body) =>
      Array.from(body.childNodes, (node) => (node.nodeType === 8 ? (node as Comment).data : "row")).join(" "),
    );
    expect(comments).toBe(`row ${MARK}:0 row row row /${MARK}:0 ${MARK}:1 row row row /${MARK}:1 row`);
    expect(errors).toEqual([]);
  });

  test("text alone, nothing, and text again", async () => {
    const placed = [{ name: "Text", props: { text: "hello" } }];
    await page.goto(pageOf("<p>[{0}]</p>", placed));
    await alive("text");
    const shown = () => page.$eval("p", (p) => p.textContent);
    expect(await shown()).toBe("[hello]");
    for (const text of ["bye", null, "", "again"]) {
      await change(`text.text = ${JSON.stringify(text)}`);
      expect(await shown()).toBe(`[${text ?? ""}]`);
    }
    expect(errors).toEqual([]);
  });

  test("a view that showed nothing at first", async () => {
    await page.goto(
      pageOf("<ul><li>one</li>{0}<li>two</li></ul>", [{ name: "Rows", props: { rows: [], name: "rows" } }]),
    );
    await alive("rows");
    await change("rows.rows.push({ id: 1, name: 'A' }, { id: 2, name: 'B' })");
    expect(await page.$eval("ul", (ul) => ul.textContent)).toBe("oneABtwo");
    expect(errors).toEqual([]);
  });

  test("inside SVG it makes SVG", async () => {
    await page.goto(pageOf("<svg><g>{0}</g></svg>", [{ name: "Circles" }]));
    await alive("circles");
    await change("circles.count = 3");
    expect(await page.$$eval("circle", (list) => list.map((one) => one instanceof SVGCircleElement))).toEqual([
      true,
      true,
      true,
    ]);
  });

  test("events and props work, and leaving calls on_unmount while the elements are there", async () => {
    const placed = [
      { name: "Counter", props: { start: 5, name: "a" } },
      { name: "Counter", props: { start: 7, name: "b" } },
    ];
    await page.goto(pageOf("{0}<hr>{1}", placed));
    await alive("bState");
    await page.click("#a");
    await page.click("#a");
    await page.click("#b");
    expect(await page.$$eval("button", (list) => list.map((one) => one.textContent))).toEqual(["7", "8"]);
    await change("aState.isShown = false");
    expect(await page.title()).toBe("a left with 7");
    expect(errors).toEqual([]);
  });
});

test("ids are the server's, and those of two islands never meet", async () => {
  const release = server.hold("/assets/views.js");
  await page.goto(pageOf("{0}{1}", [{ name: "Ids" }, { name: "Ids" }]), { waitUntil: "commit" });
  await page.waitForSelector("section + section, section ~ section");
  const ids = () => page.$$eval("input", (list) => list.map((input) => input.id));
  const served = await ids();
  expect(served).toEqual(["P1-0", "P1-1", "P2-0", "P2-1"]);
  release();
  await page.click("section:first-of-type button");
  await page.click("section:last-of-type button");
  await page.waitForFunction(() => document.querySelectorAll("input").length === 6);
  expect(await ids()).toEqual(["P1-0", "P1-1", "P1-2", "P2-0", "P2-1", "P2-2"]);
  expect(await page.$$eval("label", (list) => list.map((label) => label.htmlFor))).toEqual(await ids());
});

describe("what the visitor did before the script came", () => {
  /** Opens the fields with their script held back, and waits until they are there. */
  async function open(): Promise<() => Promise<void>> {
    const release = server.hold("/assets/views.js");
    await page.goto(pageOf("{0}", [{ name: "Fields" }]), { waitUntil: "commit" });
    await page.waitForSelector("[name=hue]");
    return async () => {
      release();
      await alive("fields");
      await change("");
    };
  }

  const state = () => page.evaluate("JSON.parse(JSON.stringify(fields))") as Promise<Record<string, unknown>>;

  test("is kept, and the view's variables catch up by the events a browser sends", async () => {
    const begin = await open();
    await page.locator("[name=text]").pressSequentially("typed");
    await page.locator("[name=note]").fill("another\nnote");
    await page.check("[name=agreed]");
    await page.check("[value=l]");
    await page.selectOption("[name=color]", "blue");
    await page.selectOption("[name=toppings]", ["egg", "leek"]);
    await begin();
    expect(await state()).toEqual({
      text: "typed",
      kept: "as it was",
      note: "another\nnote",
      agreed: true,
      size: "l",
      color: "blue",
      toppings: ["egg", "leek"],
    });
    expect(await page.evaluate("fieldEvents")).toEqual(
      ["text", "note", "agreed", "size", "color", "toppings"].flatMap((name) => [`${name}:input`, `${name}:change`]),
    );
    expect(await page.inputValue("[name=text]")).toBe("typed");
    expect(await page.inputValue("[name=note]")).toBe("another\nnote");
    expect(await page.isChecked("[name=agreed]")).toBe(true);
    expect(await page.$$eval("[name=size]", (list) => list.map((one) => (one as HTMLInputElement).checked))).toEqual([
      false,
      false,
      true,
    ]);
    expect(await page.inputValue("[name=color]")).toBe("blue");
    await change("fields.text += '!'");
    expect(await page.inputValue("[name=text]")).toBe("typed!");
    expect(errors).toEqual([]);
  });

  test("a page that nobody touched hears no event, whatever a browser fills in by itself", async () => {
    const begin = await open();
    await begin();
    expect(await page.evaluate("fieldEvents")).toEqual([]);
  });

  test.each([
    ["text", "some text"],
    ["note", "some\nlines of text"],
  ])("focus and the caret stay in %s, typed into or not", async (name, typed) => {
    const caret = () =>
      page.evaluate(() => {
        const active = document.activeElement as HTMLTextAreaElement;
        return [active.name, active.selectionStart, active.selectionEnd];
      });
    for (const text of [typed, null]) {
      const begin = await open();
      if (text) await page.locator(`[name=${name}]`).fill(text);
      await page.focus(`[name=${name}]`);
      await page.$eval(`[name=${name}]`, (field) => (field as HTMLTextAreaElement).setSelectionRange(2, 5));
      const before = await caret();
      await begin();
      expect(await caret()).toEqual(before);
      if (text) expect(await state()).toMatchObject({ [name]: text });
    }
  });

  test("typing goes on through the hydration", async () => {
    const begin = await open();
    await page.focus("[name=text]");
    await page.keyboard.type("one ");
    await begin();
    await page.keyboard.type("two");
    expect(await page.inputValue("[name=text]")).toBe("one two");
    expect(await state()).toMatchObject({ text: "one two" });
  });
});

describe("a view that fails keeps no other from living", () => {
  test("one that throws is reported with its name, and leaves the server's markup", async () => {
    const placed = [{ name: "Broken" }, { name: "Counter", props: { start: 1, name: "a" } }];
    await page.goto(pageOf("<main>{0}</main>{1}", placed));
    await alive("aState");
    await page.click("#a");
    expect(await page.textContent("#a")).toBe("2");
    expect(await page.evaluate("lastCause")).toBe("Error: broken in the browser");
    expect(await html("main")).toBe(`<!--${MARK}:0--><p>server <b>markup</b></p><!--/${MARK}:0-->`);
    expect(errors).toEqual([expect.stringContaining("The view Broken could not be started")]);
  });

  test("so is one whose module does not come, and one that the module does not have", async () => {
    const url = server.page(
      documentOf(
        `<p><!--${MARK}:1-->kept<!--/${MARK}:1--></p>${island(views, { name: "Text", props: { text: "x" } }, 2)}`,
        [{ name: "Gone", from: "gone" }, { name: "Renamed" }, { name: "Text", props: { text: "x" } }],
      ),
    );
    await page.goto(url);
    await alive("text");
    await expect.poll(() => errors.filter((error) => error.includes("could not be started"))).toHaveLength(2);
    expect(errors.join()).toContain("The view Gone could not be started");
    expect(errors.join()).toContain("The view Renamed could not be started");
    expect(await page.textContent("p")).toBe("kept");
  });

  test("the others do not wait for a slow one", async () => {
    const release = server.hold("/assets/calls.js");
    await page.goto(
      pageOf("{0}{1}", [
        { name: "SignIn", from: "calls" },
        { name: "Text", props: { text: "x" } },
      ]),
      { waitUntil: "commit" },
    );
    await alive("text");
    expect(await page.$("form")).toBeNull();
    release();
    await page.waitForSelector("form");
  });
});

describe("HTML that found its way into a page calls no view up", () => {
  const forged = JSON.stringify({
    base: "//evil.test",
    mark: MARK,
    views: [{ src: "/assets/views.js", name: "Text", props: { text: "forged" } }],
  });

  test("with a second element of data, or comments of its own", async () => {
    const injected =
      `<script type="application/json" id="tsweb">${forged}</script><div id="tsweb" type="application/json">${forged}</div>` +
      "<div id=target><!--other:0--><b>mine</b><!--/other:0--><!--tsweb:0--><i>mine</i><!--/tsweb:0--></div>";
    await page.goto(pageOf(`${injected}{0}`, [{ name: "Text", props: { text: "true" } }]));
    await alive("text");
    expect(await html("#target")).toContain("<b>mine</b>");
    expect(await page.evaluate("text.text")).toBe("true");
    expect(errors).toEqual([]);
  });

  test.each(["div", "a", "object", "svg"])("with an element before the data that is no script: %s", async (tag) => {
    const head = documentOf("", []).replace(/<script type="application\/json".*?<\/script>/, "");
    const body = `<${tag} id="tsweb" type="application/json">${forged}</${tag}><p><!--${MARK}:0-->kept<!--/${MARK}:0--></p>`;
    const url = server.page(head.replace("<body>", `<body>${body}`));
    await page.goto(url);
    await page.waitForFunction(() =>
      performance.getEntriesByType("resource").some((one) => one.name.endsWith("islands.js")),
    );
    await page.waitForLoadState("networkidle");
    expect(await page.textContent("p")).toBe("kept");
    expect(await page.evaluate("'text' in globalThis")).toBe(false);
  });
});

describe("calls", () => {
  const signIn: readonly Placed[] = [{ name: "SignIn", from: "calls" }];
  const shown = () => page.$eval("output", (output) => output.textContent?.trim());

  test("go to the application under its base, and show their result or error", async () => {
    const urls: (string | undefined)[] = [];
    server.rpc = (request, response) => {
      urls.push(request.url);
      response.setHeader("content-type", "application/json");
      if (urls.length === 1) response.end('{"result":true}');
      else if (urls.length === 2) {
        response.statusCode = 409;
        response.end('{"error":{"code":"conflict","message":"Taken.","details":{}}}');
      } else response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad Gateway</h1>");
    };
    await page.goto(pageOf("{0}", signIn, { base: "/prefix" }));
    for (const result of ["true", "conflict: Taken.", "internal: login: something else answered, with 502"]) {
      await page.click("button");
      await expect.poll(shown).toBe(result);
    }
    server.rpc = (request) => void request.socket.destroy();
    await page.click("button");
    await expect.poll(shown).toBe("internal: login: the server could not be reached");
    expect(urls).toEqual(Array(3).fill("/prefix/__web/rpc/login"));
  });

  test("carry the page's CSRF token, and are tried once more with a fresh one", async () => {
    const tokens: unknown[] = [];
    server.rpc = (request, response) => {
      tokens.push(request.headers["x-csrf-token"]);
      const isFresh = request.headers["x-csrf-token"] === "fresh";
      response.writeHead(isFresh ? 200 : 403, { "content-type": "application/json", "x-csrf-token": "fresh" });
      response.end(isFresh ? '{"result":1}' : '{"error":{"code":"forbidden","message":"Stale.","details":{}}}');
    };
    await page.goto(pageOf("{0}", signIn, { head: '<meta name="csrf-token" content="stale">' }));
    await page.click("button");
    await expect.poll(shown).toBe("1");
    expect(tokens).toEqual(["stale", "fresh"]);
  });

  describe("that stream", () => {
    const countdown = (props: object = {}): readonly Placed[] => [
      { name: "Countdown", from: "calls", props: { ...props } },
    ];

    test("show each value as it comes, and end", async () => {
      const opened = new Promise<import("node:http").ServerResponse>((resolve) => {
        server.rpc = (_, response) => resolve(response.writeHead(200, { "content-type": "application/x-ndjson" }));
      });
      await page.goto(pageOf("{0}", countdown()));
      const response = await opened;
      response.write('{"chunk":3}\n{"chunk":2}\n{"chu');
      await expect.poll(shown).toBe("3,2");
      response.write('nk":1}\n');
      await expect.poll(shown).toBe("3,2,1");
      response.end('{"done":true}\n');
      await expect.poll(shown).toBe("3,2,1 ended");
    });

    test.each([
      ['{"error":{"code":"conflict","message":"No more.","details":{}}}\n', "3 conflict: No more."],
      ["", "3 internal: countdown: the stream ended early"],
    ])("end with an error after what came before it: %s", async (last, text) => {
      server.rpc = (_, response) => void response.writeHead(200).end(`{"chunk":3}\n${last}`);
      await page.goto(pageOf("{0}", countdown()));
      await expect.poll(shown).toBe(text);
    });

    /** Answers with a stream that does not end by itself; resolves when the browser closed it. */
    function endless(): Promise<void> {
      return new Promise((resolve) => {
        server.rpc = (_, response) => {
          response.once("close", () => resolve());
          response.writeHead(200).write('{"chunk":3}\n{"chunk":2}\n');
        };
      });
    }

    test("end the request when the loop is left", async () => {
      const closed = endless();
      await page.goto(pageOf("{0}", countdown({ until: 2 })));
      await closed;
      await expect.poll(shown).toBe("3,2 ended");
    });

    test("end the request when they are cancelled, and the loop without an error", async () => {
      const closed = endless();
      await page.goto(pageOf("{0}", countdown()));
      await expect.poll(shown).toBe("3,2");
      await page.click("button");
      await closed;
      await expect.poll(shown).toBe("3,2 ended");
    });
  });
});
