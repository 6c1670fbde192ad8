/**
 * WebKit: MiniBrowser of WebKitGTK, driven by its WebDriver, on a display of its own. Each user has a driver and a browser.
 *
 * @see https://www.w3.org/TR/webdriver2/
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "#test/free-port";
import {
  type ContextOptions,
  type Engine,
  type EngineContext,
  EnginePage,
  type PageScript,
  type ScriptArgument,
} from "./engine.ts";

/** The programs of Debian's packages webkit2gtk-driver and libwebkit2gtk-4.1-0, and of xvfb. */
export const WEBKIT = {
  driver: "/usr/bin/WebKitWebDriver",
  browser: "/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser",
  display: "/usr/bin/Xvfb",
} as const;

/** How long a command may take, on a machine under load. */
const COMMAND_MS = 20_000;

/** Starts a display for browsers. Without one, the driver waits for ever. */
export async function launchWebKit(): Promise<Engine> {
  const display = spawn(WEBKIT.display, ["-displayfd", "3", "-screen", "0", "1280x900x24", "-nolisten", "tcp"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const [number]: unknown[] = await once(display.stdio[3] as NodeJS.ReadableStream, "data"); // a pipe, as declared above
  return {
    newContext: (options) => startBrowser(`:${String(number).trim()}`, options),
    close: () => end(display),
  };
}

async function startBrowser(display: string, options: ContextOptions = {}): Promise<EngineContext> {
  const { isScriptOn = true, hasTransitions = false } = options;
  const port = await freePort();
  const compositing = hasTransitions ? {} : { WEBKIT_DISABLE_COMPOSITING_MODE: "1" };
  const env = { ...process.env, DISPLAY: display, ...compositing };
  const driver = spawn(WEBKIT.driver, [`--port=${port}`], { env, stdio: "ignore" });
  const connection = new WebDriver(`http://127.0.0.1:${port}`);
  await connection.start(isScriptOn);
  let hasPage = false;
  return {
    async newPage() {
      const window = hasPage ? await connection.openWindow() : await connection.window();
      hasPage = true;
      return new WebKitPage(connection, window);
    },
    async close() {
      await connection.send("DELETE", "");
      await end(driver);
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

/** A session of WebDriver. Its commands concern one window, so they run one after the other. */
class WebDriver {
  readonly #address: string;
  #session = "";
  #current = "";
  #last: Promise<unknown> = Promise.resolve();

  constructor(address: string) {
    this.#address = address;
  }

  async start(isScriptOn: boolean): Promise<void> {
    for (let attempts = 0; attempts < 600 && !(await this.#isListening()); attempts++) await sleep(50);
    const args = ["--automation", `--enable-javascript=${isScriptOn}`];
    const alwaysMatch = {
      pageLoadStrategy: "none",
      // The driver does not answer a script whose page is replaced meanwhile.
      timeouts: { script: 2_000 },
      "webkitgtk:browserOptions": { binary: WEBKIT.browser, args },
    };
    const { sessionId } = (await this.send("POST", "/session", { capabilities: { alwaysMatch } })) as {
      sessionId: string;
    };
    this.#session = `/session/${sessionId}`;
    this.#current = await this.window();
  }

  async window(): Promise<string> {
    return (await this.send("GET", "/window")) as string; // the handle of a window is a text
  }

  /** Opens a window. The mouse does not reach a tab that is not shown. */
  async openWindow(): Promise<string> {
    const { handle } = (await this.send("POST", "/window/new", { type: "window" })) as { handle: string };
    return handle;
  }

  /** Closes a window, which must not be the only one: the browser would end. */
  async closeWindow(window: string): Promise<void> {
    const [other] = (await this.sendTo(window, "/window", undefined, "DELETE")) as string[]; // the handles of the others
    await this.send("POST", "/window", { handle: other });
    this.#current = other ?? "";
  }

  /** Runs a command in a window, after those that were sent before. */
  sendTo(window: string, path: string, body: unknown, method = "POST"): Promise<unknown> {
    const result = this.#last.then(async () => {
      if (this.#current !== window) await this.send("POST", "/window", { handle: window });
      this.#current = window;
      return this.send(method, path, body);
    });
    this.#last = result.catch(() => undefined); // the caller has it
    return result;
  }

  /** Sends a command. Returns its value. */
  async send(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(this.#address + this.#session + path, {
      method,
      body: body ? JSON.stringify(body) : null,
      signal: AbortSignal.timeout(COMMAND_MS), // the driver sometimes never answers while a page is being replaced
    });
    const { value } = (await response.json()) as { value: unknown }; // the response of every command
    if (!response.ok) throw new Error(`WebDriver: ${method} ${path}: ${JSON.stringify(value)}`);
    return value;
  }

  async #isListening(): Promise<boolean> {
    return fetch(`${this.#address}/status`).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}

/** The action that moves the mouse to a point. */
const move = (point: object) => ({ type: "pointerMove", duration: 20, ...point });

class WebKitPage extends EnginePage {
  readonly #driver: WebDriver;
  readonly #window: string;
  #isNew = true;

  constructor(driver: WebDriver, window: string) {
    super();
    this.#driver = driver;
    this.#window = window;
  }

  async open(url: string): Promise<void> {
    // The driver does not answer scripts in a new window.
    const before = this.#isNew ? 0 : await this.evaluate(() => performance.timeOrigin);
    this.#isNew = false;
    await this.#send("/url", { url });
    await this.until((before) => {
      const isNext = performance.timeOrigin !== before && location.protocol !== "about:";
      return isNext && document.readyState === "complete";
    }, before);
  }

  async evaluate<A extends ScriptArgument[], T>(script: PageScript<A, T>, ...args: A): Promise<T> {
    return (await this.#send("/execute/sync", { script: `return (${script})(...arguments)`, args })) as T; // the result
  }

  async close(): Promise<void> {
    await this.#driver.closeWindow(this.#window);
  }

  async back(): Promise<void> {
    await this.#send("/back", {});
  }

  async chooseFile(selector: string, path: string): Promise<void> {
    const element = (await this.#send("/element", { using: "css selector", value: selector })) as Record<
      string,
      string
    >;
    await this.#send(`/element/${Object.values(element)[0]}/value`, { text: path });
  }

  protected async moveMouse(point: object): Promise<void> {
    await this.#act("pointer", [move(point)]);
  }

  protected async dragMouse([start, ...points]: readonly { readonly x: number; readonly y: number }[]): Promise<void> {
    const [down, up] = ["pointerDown", "pointerUp"].map((type) => ({ type, button: 0 }));
    await this.#act("pointer", [move(start ?? {}), down, ...points.map(move), up]);
  }

  /** Inserts text as an input method does, because this driver takes long for each key. Only Enter is a key. */
  protected async sendKeys(text: string): Promise<void> {
    const [line = "", ...enters] = text.split("\n");
    if (line !== "") await this.evaluate((line) => document.execCommand("insertText", false, line), line);
    for (const _ of enters)
      await this.#act(
        "key",
        ["keyDown", "keyUp"].map((type) => ({ type, value: "\uE007" })),
      );
  }

  #act(type: "pointer" | "key", actions: readonly unknown[]): Promise<unknown> {
    return this.#send("/actions", { actions: [{ type, id: type, actions }] });
  }

  #send(path: string, body: unknown): Promise<unknown> {
    return this.#driver.sendTo(this.#window, path, body);
  }
}
