/**
 * Islands in Chromium: views that fail, injected HTML, and calls.
 */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { documentOf, MARK, type PlacedView, renderIsland } from "./island-server.ts";
import { IslandsFixture, innerHtml, waitForView } from "./islands-fixture.ts";

let fixture: IslandsFixture;
let page: Page;
/** Uncaught errors of the page and violations of its content security policy. */
let errors: readonly string[];

beforeAll(async () => {
  fixture = await IslandsFixture.open();
});

afterAll(() => fixture?.close());

beforeEach(async () => {
  ({ page, errors } = await fixture.newPage());
});

afterEach(() => fixture.closePage());

describe("a view does not affect other views", () => {
  test("if it throws: the error has its name, and the server's markup stays", async () => {
    const placedViews = [{ name: "Broken" }, { name: "Counter", props: { start: 1, name: "a" } }];
    await page.goto(fixture.pageOf("<main>{0}</main>{1}", placedViews));
    await waitForView(page, "aState");
    await page.click("#a");
    expect(await page.textContent("#a")).toBe("2");
    expect(await page.evaluate("lastCause")).toBe("Error: broken in the browser");
    expect(await innerHtml(page, "main")).toBe(`<!--${MARK}:0--><p>server <b>markup</b></p><!--/${MARK}:0-->`);
    expect(errors).toEqual([expect.stringContaining("Cannot start view Broken")]);
  });

  test("if its module cannot be loaded or does not export it", async () => {
    const url = fixture.server.page(
      documentOf(
        `<p><!--${MARK}:1-->kept<!--/${MARK}:1--></p>${renderIsland(fixture.views, { name: "Text", props: { text: "x" } }, 2)}`,
        [{ name: "Missing", from: "missing" }, { name: "Renamed" }, { name: "Text", props: { text: "x" } }],
      ),
    );
    const loads: number[] = []; // the number of errors before each
    page.on("request", (request) => {
      if (request.isNavigationRequest()) loads.push(errors.length);
    });
    await page.goto(url);
    // A missing module reloads the page once, which then reports both again.
    const reported = () => errors.slice(loads[1]).filter((error) => error.includes("Cannot start view"));
    await expect.poll(() => loads.length).toBe(2);
    await expect.poll(() => reported().sort()).toEqual(["Cannot start view Missing", "Cannot start view Renamed"]);
    await waitForView(page, "text");
    expect([loads.length, reported().length]).toEqual([2, 2]);
    expect(await page.textContent("p")).toBe("kept");
  });

  test("if its module is slow", async () => {
    const release = fixture.server.delay("/assets/calls.js");
    await page.goto(
      fixture.pageOf("{0}{1}", [
        { name: "SignIn", from: "calls" },
        { name: "Text", props: { text: "x" } },
      ]),
      { waitUntil: "commit" },
    );
    await waitForView(page, "text");
    expect(await page.evaluate(() => document.querySelector("form"))).toBeNull();
    release();
    await page.locator("form").waitFor();
  });
});

describe("a view reports one error, and the page and its other views continue,", () => {
  const counter = { name: "Counter", props: { start: 1, name: "a" } };
  const innerText = (selector: string) => page.textContent(selector);

  async function expectCounterWorks(): Promise<void> {
    await page.click("#a", { timeout: 10_000 }); // a rendering without end would block the page
    await expect.poll(() => innerText("#a")).toBe("2");
  }

  test.each([
    ["renders an object of its state", "ObjectChild", "Object rendered"],
    ["renders its state itself", "StateChild", "Object rendered"],
    ["assigns to its state in each rendering", "Assigning", "Render loop"],
    ["has a child that changes its state in each rendering", "ChangedByChild", "Render loop"],
    ["has a child that throws", "BrokenChild", "broken child"],
  ])("if it %s: it keeps its last rendering, and can be changed again", async (_, name, error) => {
    await page.goto(fixture.pageOf("{0}{1}", [{ name, from: "failures" }, counter]));
    await waitForView(page, "aState");
    const section = await page.$("section");
    await page.click("#fail");
    await expectCounterWorks();
    expect(errors).toEqual([error]);
    expect(await page.locator("output, button").allTextContents()).toEqual(["last", "Fail", "Fix", "2"]);
    await page.click("#fix");
    await expect.poll(() => innerText("output")).toBe("fixed");
    expect(await page.locator("output, button").allTextContents()).toEqual(["fixed", "Fail", "Fix", "2"]);
    expect(await section?.evaluate((element) => element.isConnected)).toBe(true);
    expect(errors).toEqual([error]);
  });

  test.each([
    ["has a new item that throws in a list with keys", "BrokenItem", "broken item", "<ul><li>a</li><li>b</li></ul>"],
    ["renders an object in place of a text", "ObjectForText", "Object rendered", "<output>last"],
  ])("if it %s: what was there stays until the page is reloaded", async (_, name, error, kept) => {
    await page.goto(fixture.pageOf("{0}{1}", [{ name, from: "failures" }, counter]));
    await waitForView(page, "aState");
    await page.click("#fail");
    await expectCounterWorks();
    expect(errors).toEqual([error]);
    expect(await innerHtml(page, "section")).toContain(kept);
    await page.click("#fix");
    await page.evaluate(() => new Promise((done) => setTimeout(done))); // after Preact has rendered the change
    expect(await innerHtml(page, "section")).toContain(kept);
    await page.reload();
    await waitForView(page, "aState");
    await page.click("#fix");
    await expect.poll(() => innerHtml(page, "section")).toContain("fixed");
    expect(await innerHtml(page, "section")).not.toContain(kept);
    expect(errors).toEqual([error]);
  });

  test("if it assigns to its state in each rendering from the first", async () => {
    await page.goto(fixture.pageOf("{0}{1}", [{ name: "AssigningAtOnce", from: "failures" }, counter]));
    await waitForView(page, "aState");
    await expectCounterWorks();
    expect(errors).toEqual(["Render loop"]);
  });

  test("if an object becomes a child beside an element: nothing is rendered in its place", async () => {
    const name = "ObjectBeside";
    await page.goto(fixture.pageOf("{0}{1}", [{ name, from: "failures" }, counter]));
    await waitForView(page, "aState");
    await page.click("#fail");
    await expectCounterWorks();
    expect(errors).toEqual(["Object rendered"]);
    expect(await innerText("output")).toBe("Fail");
    await page.click("#fix");
    await expect.poll(() => innerText("output")).toContain("fixed");
    expect(errors).toHaveLength(1);
  });

  test.each([
    ["its rendering", "FailsInRendering"],
    ["a child", "FailsInChild"],
    ["a ref", "FailsInRef"],
    ["an effect", "FailsInEffect"],
  ])("or ten, if %s fails each time after it has changed the state: it keeps its last rendering", async (_, name) => {
    await page.goto(fixture.pageOf("{0}{1}", [{ name, from: "failures" }, counter]));
    await waitForView(page, "aState");
    await page.click("#fail");
    await expectCounterWorks();
    expect(errors).toEqual([...Array(10).fill("again"), "Render loop"]);
    expect(await innerText("output")).toBe("last");
    await page.click("#fix");
    await expect.poll(() => innerText("output")).toBe("fixed");
  });

  test("except for a number that is passed to state, which is rendered", async () => {
    await page.goto(fixture.pageOf("{0}{1}", [{ name: "NumberState", from: "failures" }, counter]));
    await waitForView(page, "aState");
    await expectCounterWorks();
    expect(await innerText("output")).toBe("0");
    expect(errors).toEqual([]);
  });
});

describe("injected HTML cannot start a view", () => {
  const forged = JSON.stringify({
    base: "//evil.test",
    mark: MARK,
    views: [{ src: "/assets/views.js", name: "Text", props: { text: "forged" } }],
  });

  test("with a second page data element or with comments", async () => {
    const injected =
      `<script type="application/json" id="tsweb">${forged}</script><div id="tsweb" type="application/json">${forged}</div>` +
      "<div id=target><!--other:0--><b>mine</b><!--/other:0--><!--tsweb:0--><i>mine</i><!--/tsweb:0--></div>";
    await page.goto(fixture.pageOf(`${injected}{0}`, [{ name: "Text", props: { text: "true" } }]));
    await waitForView(page, "text");
    expect(await innerHtml(page, "#target")).toContain("<b>mine</b>");
    expect(await page.evaluate("text.text")).toBe("true");
    expect(errors).toEqual([]);
  });

  test.each(["div", "a", "object", "svg"])(
    "with an element before the page data that is not a script: %s",
    async (tag) => {
      const head = documentOf("", []).replace(/<script type="application\/json".*?<\/script>/, "");
      const body = `<${tag} id="tsweb" type="application/json">${forged}</${tag}><p><!--${MARK}:0-->kept<!--/${MARK}:0--></p>`;
      const url = fixture.server.page(head.replace("<body>", `<body>${body}`));
      await page.goto(url);
      const loaded = () =>
        page.evaluate(() => performance.getEntriesByType("resource").some((one) => one.name.endsWith("islands.js")));
      await expect.poll(loaded).toBe(true);
      await page.waitForLoadState("networkidle");
      expect(await page.textContent("p")).toBe("kept");
      expect(await page.evaluate("'text' in globalThis")).toBe(false);
    },
  );
});

describe("calls", () => {
  const signIn: readonly PlacedView[] = [{ name: "SignIn", from: "calls" }];
  const shown = () => page.evaluate(() => document.querySelector("output")?.textContent?.trim());

  test("are sent below the application's base, and their result or error is shown", async () => {
    const urls: (string | undefined)[] = [];
    fixture.server.rpc = (request, response) => {
      urls.push(request.url);
      response.setHeader("content-type", "application/json");
      if (urls.length === 1) response.end('{"result":true}');
      else if (urls.length === 2) {
        response.statusCode = 409;
        response.end('{"error":{"code":"conflict","message":"Taken.","details":{}}}');
      } else response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad Gateway</h1>");
    };
    await page.goto(fixture.pageOf("{0}", signIn, { base: "/prefix" }));
    for (const result of ["true", "conflict: Taken.", "internal: login: unexpected response (502)"]) {
      await page.click("button");
      await expect.poll(shown).toBe(result);
    }
    fixture.server.rpc = (request) => void request.socket.destroy();
    await page.click("button");
    await expect.poll(shown).toBe("internal: login: server unreachable");
    expect(urls).toEqual(Array(3).fill("/prefix/__web/rpc/login"));
  });

  test("contain the CSRF token of the page, and are repeated once with a new token after a 403", async () => {
    const tokens: unknown[] = [];
    fixture.server.rpc = (request, response) => {
      tokens.push(request.headers["x-csrf-token"]);
      const isFresh = request.headers["x-csrf-token"] === "fresh";
      response.writeHead(isFresh ? 200 : 403, { "content-type": "application/json", "x-csrf-token": "fresh" });
      response.end(isFresh ? '{"result":1}' : '{"error":{"code":"forbidden","message":"Stale.","details":{}}}');
    };
    await page.goto(fixture.pageOf("{0}", signIn, { head: '<meta name="csrf-token" content="stale">' }));
    await page.click("button");
    await expect.poll(shown).toBe("1");
    expect(tokens).toEqual(["stale", "fresh"]);
  });

  describe("that stream", () => {
    const countdown = (props: object = {}): readonly PlacedView[] => [
      { name: "Countdown", from: "calls", props: { ...props } },
    ];

    test("show each value as it arrives, and end", async () => {
      const opened = new Promise<import("node:http").ServerResponse>((resolve) => {
        fixture.server.rpc = (_, response) =>
          resolve(response.writeHead(200, { "content-type": "application/x-ndjson" }));
      });
      await page.goto(fixture.pageOf("{0}", countdown()));
      const response = await opened;
      response.write('{"chunk":3}\n{"chunk":2}\n{"chu');
      await expect.poll(shown).toBe("3,2");
      response.write('nk":1}\n');
      await expect.poll(shown).toBe("3,2,1");
      response.end('{"done":true}\n');
      await expect.poll(shown).toBe("3,2,1 ended");
    });

    test.each([
      [
        "the function throws",
        '{"error":{"code":"conflict","message":"No more.","details":{}}}\n',
        "3 conflict: No more.",
      ],
      ["the response ends early", "", "3 internal: countdown: the stream ended early"],
    ])("end with an error after the received values if %s", async (_, last, text) => {
      fixture.server.rpc = (_, response) => void response.writeHead(200).end(`{"chunk":3}\n${last}`);
      await page.goto(fixture.pageOf("{0}", countdown()));
      await expect.poll(shown).toBe(text);
    });

    /** Responds with a stream that does not end. Resolves when the browser has closed the connection. */
    function respondWithEndlessStream(): Promise<void> {
      return new Promise((resolve) => {
        fixture.server.rpc = (_, response) => {
          response.once("close", () => resolve());
          response.writeHead(200).write('{"chunk":3}\n{"chunk":2}\n');
        };
      });
    }

    test("abort the request when the loop is left", async () => {
      const closed = respondWithEndlessStream();
      await page.goto(fixture.pageOf("{0}", countdown({ until: 2 })));
      await closed;
      await expect.poll(shown).toBe("3,2 ended");
    });

    test("abort the request when they are cancelled, and end the loop without an error", async () => {
      const closed = respondWithEndlessStream();
      await page.goto(fixture.pageOf("{0}", countdown()));
      await expect.poll(shown).toBe("3,2");
      await page.click("button");
      await closed;
      await expect.poll(shown).toBe("3,2 ended");
    });
  });
});
