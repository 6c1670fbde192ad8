/**
 * The development panel in Chromium: it calls functions, shows requests and live updates, and is available on this machine
 * only.
 */
import { once } from "node:events";
import { get } from "node:http";
import { networkInterfaces } from "node:os";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { BrowserUsers } from "#test/browser-users";
import { listen } from "#test/listen";
import { sendRequest } from "#test/raw-http";
import { type RunningServer, startDev } from "#test/run-tsweb";
import { TestProject } from "#test/test-project";
import { launch } from "./chromium.ts";
import { PANEL_PROJECT } from "./panel-project.ts";

let project: TestProject;
let dev: RunningServer;
let browser: Browser;
let users: BrowserUsers;
let context: BrowserContext;
let panel: Page;
let errors: string[];
/** What the panel has requested since it was opened. */
let requested: string[];

beforeAll(async () => {
  project = TestProject.fromFiles(PANEL_PROJECT);
  // Every host may use the application. The panel must refuse them nevertheless.
  project.write("vite.config.js", "export default { server: { allowedHosts: true } };\n");
  const env = { HOST: "0.0.0.0", WEB_CSRF_SECRET: "5a".repeat(32) };
  [dev, browser] = await Promise.all([startDev(project.dir, env), launch()]);
  users = new BrowserUsers(browser, {});
});

afterAll(async () => {
  await browser?.close();
  const code = await dev?.stop();
  project?.remove();
  expect(code).toBe(0);
});

afterEach(() => users.closeAll());

/** Opens the panel of a new user. */
async function openNewPanel(): Promise<void> {
  const page = await users.reusePage();
  errors = [];
  requested = [];
  if (page !== panel) {
    panel = page;
    context = page.context();
    panel.on("request", (request) => requested.push(request.url()));
    panel.on("pageerror", (error) => errors.push(error.message));
    panel.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  }
  await openPanel(panel);
}

/** Opens the panel, and waits until it can be used. */
async function openPanel(page: Page): Promise<void> {
  const isLive = page.waitForResponse((response) => response.url().includes("/__web/dev/__web/live"));
  await page.goto(`${dev.address}/__web/dev`);
  await isLive; // the view subscribes after its hydration
}

/** Opens the form of a function. */
async function openFunction(name: string): Promise<void> {
  await panel
    .locator("summary")
    .filter({ hasText: `${name}(` })
    .click();
}

/** Calls the function whose form is open, and returns what the panel shows of its result. */
async function call(name: string): Promise<string> {
  const form = panel.locator("form").filter({ has: panel.getByRole("button", { name: `Call ${name}` }) });
  await form.getByRole("button", { name: `Call ${name}` }).click();
  await form.locator("output .status").waitFor();
  return form.locator("output").innerText();
}

const section = (name: string) => panel.getByRole("navigation").getByRole("link", { name }).click();

describe("the form of a function in the panel", () => {
  beforeEach(openNewPanel);

  it("shows the documentation, the types and the defaults of the parameters", async () => {
    await openFunction("order");
    const details = panel.locator("li").filter({ hasText: "Orders an item." });
    expect(await details.innerText()).toContain('order(item: string, quantity?: int, size?: "small" | "large")');
    expect(await details.innerText()).toContain("src/orders.server.ts:4");
    expect(await details.innerText()).toContain("default: 1");
    await openFunction("signIn");
    expect(await panel.locator("form").filter({ hasText: "at least eight characters" }).count()).toBe(1);
    expect(await panel.getByLabel("password: string").getAttribute("type")).toBe("password");
  });

  it("calls it with the fields as arguments, and leaves out empty optional ones", async () => {
    await openFunction("order");
    await panel.getByLabel("item: string").fill("tea");
    const shown = await call("order");
    expect(shown).toContain("200");
    expect(shown.replace(/\s+/g, "")).toContain('{"item":"tea","quantity":1,"size":"small"}');
    await panel.getByLabel("size:").selectOption('"large"');
    await panel.getByLabel("quantity: int").fill("x");
    expect(await call("order")).toContain('quantity: expected int, got \\"x\\"');
  });

  it("calls it as the user who is signed in in this browser, with the CSRF token", async () => {
    await openFunction("whoAmI");
    expect(await call("whoAmI")).toContain("unauthenticated");
    await openFunction("signIn");
    await panel.getByLabel("name: string").fill("Ada");
    await panel.getByLabel("password: string").fill("hunter2");
    expect(await call("signIn")).toContain("Welcome, Ada");
    expect(await call("whoAmI")).toContain('"sub": "Ada"');
  });

  it("shows the values of a stream, and the target of a redirect without following it", async () => {
    await openFunction("countdown");
    await panel.getByLabel("from: int").fill("2");
    await call("countdown");
    expect(await panel.getByRole("region", { name: "Values" }).innerText()).toBe("2\n1\n0");
    await openFunction("leave");
    expect(await call("leave")).toContain("Redirects to /orders/7");
    expect(panel.url()).toBe(`${dev.address}/__web/dev`);
  });

  it("sends files, and JSON for all other types", async () => {
    await openFunction("sendPhoto");
    await panel
      .getByLabel("photo: File")
      .setInputFiles({ name: "a.png", mimeType: "image/png", buffer: Buffer.from("1234") });
    await panel.getByLabel("caption: string").fill("Cat");
    expect(await call("sendPhoto")).toContain("a.png: 4 bytes, Cat");
    await openFunction("label");
    const tags = panel.getByLabel("tags: string[]");
    await tags.fill("tea");
    await panel.getByRole("button", { name: "Call label" }).click();
    await panel.getByText('tags is not valid JSON. Write a text in quotes: "tea"').waitFor();
    expect(await tags.getAttribute("aria-invalid")).toBe("true");
    await tags.fill('["tea"]');
    await panel.getByLabel("options:").fill("null");
    expect((await call("label")).replace(/\s+/g, "")).toContain('{"tags":["tea"],"options":null}');
  });
});

describe("the panel", () => {
  beforeEach(openNewPanel);

  it("shows a failing call with its arguments, its source and its stack in the files of the application", async () => {
    await openFunction("breakDown");
    await panel.getByLabel("accessCode: string").fill("hunter2");
    expect(await call("breakDown")).toContain("internal");
    await section("Requests");
    await panel.getByLabel("Failures only").check();
    const entry = panel.getByRole("list", { name: "Requests" }).locator("details", { hasText: "breakDown" }).first();
    await entry.locator("summary").click();
    await entry.getByText("src/orders.server.ts:28:9").first().waitFor();
    const text = await entry.innerText();
    expect(text).toContain("Error: The stock of 7 is unknown");
    expect(text).toContain("throw new Error(`The stock of $");
    expect(text).toMatch(/at checkStock \(src\/orders\.server\.ts:28:9\)\s+at .*\(src\/orders\.server\.ts:24:10\)/);
    expect(text).toContain('"[redacted]"');
    expect(text).not.toMatch(/hunter2|node_modules|node:/);
  });

  it("shows the requests of a page as they happen, filters them, and clears them", async () => {
    await section("Requests");
    const app = await context.newPage();
    await app.goto(`${dev.address}/orders/7?token=t0p-secret`);
    const rows = panel.getByRole("list", { name: "Requests" }).locator("summary");
    await rows.filter({ hasText: "/orders/7?token=[redacted]" }).waitFor();
    await app.goto(`${dev.address}/broken`);
    await rows.filter({ hasText: "/broken" }).first().waitFor();
    await panel.getByLabel("Filter requests").fill("/ORDERS/:ID");
    await expect.poll(() => rows.filter({ hasText: "/broken" }).count()).toBe(0);
    expect(await rows.filter({ hasText: "/orders/7" }).count()).toBeGreaterThan(0);
    await panel.getByLabel("Filter requests").fill("");
    await rows.filter({ hasText: "/broken" }).first().waitFor();
    await panel.getByRole("button", { name: "Clear" }).click();
    await expect.poll(() => rows.filter({ hasText: "/broken" }).count()).toBe(0);
  });

  it("shows live connections with their channels and positions, and messages without their secrets", async () => {
    const app = await context.newPage();
    await app.goto(dev.address);
    await section("Live");
    const connections = panel.getByRole("list", { name: "Live connections" });
    await connections.getByText("news").first().waitFor();
    const before = await connections.innerText();
    await section("Functions");
    await openFunction("announce");
    await panel.getByLabel("text: string").fill("Hello from the panel");
    await call("announce");
    await app.getByText("Hello from the panel").waitFor();
    await section("Live");
    const message = panel.getByRole("list", { name: "Messages" }).locator("details").first();
    expect(await message.innerText()).toContain('{"text":"Hello from the panel","token":"[redacted]"}');
    await expect.poll(() => connections.innerText()).not.toBe(before); // the position
    await section("Requests");
    const stream = panel.getByRole("list", { name: "Requests" }).locator("summary", { hasText: "/__web/live" }).first();
    await stream.getByText("open").waitFor();
    await app.close();
    await stream.getByText(/^[\d.]+ m?s$/).waitFor();
    await section("Live");
    await panel.getByText("No page is connected for live updates.").waitFor();
  });

  it("loads its data again after a call that failed", async () => {
    await section("Live");
    let calls = 0; // more of them fail than there are changes, so that no change causes the one that succeeds
    await panel.route("**/__web/rpc/getLive", (route) => (++calls > 6 ? route.continue() : route.abort()));
    const app = await context.newPage();
    await app.goto(dev.address);
    await panel.getByRole("list", { name: "Live connections" }).getByText("news").waitFor();
    expect(calls).toBeGreaterThan(6);
  });

  it("follows edits: a function that was added, and an error that prevents the application from loading", async () => {
    const restore = project.edit(
      "src/orders.server.ts",
      "export const leave",
      "export const added = server(() => 1);\nexport const leave",
    );
    await panel.locator("summary").filter({ hasText: "added()" }).waitFor();
    restore();
    await panel.locator("summary").filter({ hasText: "added()" }).waitFor({ state: "detached" });
    const repair = project.edit("src/orders.server.ts", "export const leave", "export const leave = ;");
    const failure = panel.getByRole("region", { name: "Error" });
    await failure.getByText("src/orders.server.ts:31").first().waitFor();
    repair();
    await failure.waitFor({ state: "detached" });
  });

  it("can be used with the keyboard alone", async () => {
    const focused = () =>
      panel.evaluate<string>(
        "document.activeElement === document.body ? '' : document.activeElement.textContent + document.activeElement.id",
      );
    const tabTo = async (text: string) => {
      for (let presses = 0; presses < 40 && !((await focused()) as string).includes(text); presses++) {
        await panel.keyboard.press("Tab");
      }
      expect(await focused()).toContain(text);
    };
    await tabTo("order(");
    await panel.keyboard.press("Enter");
    await tabTo("order-item");
    await panel.keyboard.type("tea");
    await tabTo("Call order");
    await panel.keyboard.press("Space");
    await panel.getByRole("region", { name: "Result" }).waitFor();
    await panel.evaluate("document.activeElement.blur()");
    await openPanel(panel);
    await tabTo("Requests");
    await panel.keyboard.press("Enter");
    await panel.getByRole("list", { name: "Requests" }).locator("summary").first().waitFor();
    expect(await panel.locator("[aria-current=page]").innerText()).toContain("Requests");
    await tabTo("/__web/rpc/order");
    await panel.keyboard.press("Enter");
    await panel.getByRole("region", { name: "Argument item" }).waitFor();
  });

  it("loads nothing from elsewhere, and violates no content security policy", async () => {
    expect(requested.filter((url) => !url.startsWith(`${dev.address}/__web/dev`))).toEqual([]);
    expect(requested.length).toBeGreaterThan(2); // the page, its scripts and the live updates
    expect(errors).toEqual([]);
  });

  it("fits a phone, and follows the colour scheme", async () => {
    const previous = panel.viewportSize() ?? { width: 1280, height: 720 };
    onTestFinished(async () => {
      await panel.setViewportSize(previous);
      await panel.emulateMedia({ colorScheme: null });
    });
    await panel.setViewportSize({ width: 390, height: 800 });
    await openFunction("order");
    await call("order");
    for (const name of ["Functions", "Routes", "Requests", "Live"]) {
      await section(name);
      expect(await panel.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    }
    for (const colorScheme of ["light", "dark"] as const) {
      await panel.emulateMedia({ colorScheme });
      const background = await panel.evaluate<string>("getComputedStyle(document.documentElement).backgroundColor");
      const [red = 0] = background.match(/\d+/g)?.map(Number) ?? [];
      expect(red > 128).toBe(colorScheme === "light");
      expect(await panel.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    }
  });
});

describe("the panel shows hostile texts as texts", () => {
  beforeEach(openNewPanel);

  it("in arguments, errors, results, channels, messages, paths and headers [DEV-7]", async () => {
    const hostile = `<img src=x onerror="document.title='attacked'"><script>document.title='attacked'</script>`;
    await openFunction("repeat");
    await panel.getByLabel("markup: string").fill(hostile);
    expect(await call("repeat")).toContain("internal");
    await openFunction("order");
    await panel.getByLabel("item: string").fill(hostile);
    expect(await call("order")).toContain(JSON.stringify(hostile));
    await sendRequest(
      dev.address,
      `GET /orders/${encodeURIComponent(hostile)}?a=<script>alert(1)</script> HTTP/1.1`,
      `Host: localhost\r\nUser-Agent: ${hostile}\r\nReferer: javascript:alert(1)\r\nX-Request-ID: ${hostile}`,
    );
    await section("Requests");
    const entries = panel.getByRole("list", { name: "Requests" }).locator("details");
    await entries.filter({ hasText: "/orders/%3Cimg" }).locator("summary").click();
    const failure = entries.filter({ hasText: "/__web/rpc/repeat" });
    await failure.locator("summary").click();
    await failure.getByText(`Error: ${hostile}`).first().waitFor();
    await failure.getByText(JSON.stringify(hostile)).first().waitFor();
    expect(await failure.innerText()).not.toMatch(/node_modules|node:/);
    await section("Live");
    const message = panel.getByRole("list", { name: "Messages" }).locator("details").first();
    await message.locator("summary").click();
    expect(await message.innerText()).toContain(hostile);
    expect(await panel.locator("img, main script").count()).toBe(0);
    expect(await panel.title()).not.toContain("attacked");
    expect(errors.filter((text) => !text.includes("500"))).toEqual([]);
  });
});

describe("the panel is refused", () => {
  const port = () => new URL(dev.address).port;

  it("to a site that points its name at this machine (DNS rebinding), which may use the application [DEV-5]", async () => {
    const host = `Host: evil.example:${port()}`;
    const statuses = ["/orders/1", "/__web/dev", "/__web/dev/__web/rpc/getRequests"].map(
      async (path) => (await sendRequest(dev.address, `GET ${path} HTTP/1.1`, host)).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 403, 403]);
  });

  it("to another machine, with HOST=0.0.0.0 and whatever host it names [DEV-4]", async () => {
    const statusOf = async (path: string, host: string) => {
      const [response] = await once(get({ host: ownAddress(), port: port(), path, headers: { host } }), "response");
      response.resume();
      return response.statusCode;
    };
    for (const host of [`localhost:${port()}`, `${ownAddress()}:${port()}`]) {
      expect([await statusOf("/orders/1", host), await statusOf("/__web/dev", host)]).toEqual([200, 403]);
    }
  });

  it("to a page of another port: it can neither read the panel, nor call its functions, nor show it in a frame [DEV-6]", async () => {
    await openNewPanel();
    await section("Requests");
    const rows = panel.getByRole("list", { name: "Requests" }).locator("summary");
    await sendRequest(dev.address, "GET /orders/1?kept HTTP/1.1", "Host: localhost");
    await rows.filter({ hasText: "kept" }).waitFor();
    const other = await listen((_, response) => response.setHeader("content-type", "text/html").end("<body>"));
    const page = await context.newPage();
    await page.goto(other.address.replace("127.0.0.1", "localhost")); // the same site, and another origin
    const [read, ...calls] = await page.evaluate<string[]>(`(async () => {
      const url = ${JSON.stringify(`${dev.address}/__web/dev`)};
      const attempt = (path, init) => fetch(url + path, init).then((r) => r.type + " " + r.status, () => "blocked");
      const call = { method: "POST", body: '{"args":{}}', credentials: "include" };
      const json = { headers: { "content-type": "application/json" } };
      const clear = "/__web/rpc/clearRequests";
      return [await attempt(""), await attempt(clear, call), await attempt(clear, { ...call, ...json }),
        await attempt(clear, { ...call, mode: "no-cors" })];
    })()`);
    expect([read, calls]).toEqual(["blocked", ["blocked", "blocked", "blocked"]]);
    const framed = page.waitForResponse((response) => response.url().endsWith("/__web/dev"));
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement("iframe"), { src: "${dev.address}/__web/dev" }))`,
    );
    expect((await framed).status()).toBe(403);
    expect(await rows.filter({ hasText: "kept" }).count()).toBe(1);
    await other.close();
  });
});

/** Returns an address of this machine that other machines can reach. */
function ownAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const found = all.find(({ family, internal }) => family === "IPv4" && !internal);
  if (found) return found.address;
  throw new Error("This test needs a network interface besides the loopback interface, with an IPv4 address.");
}
