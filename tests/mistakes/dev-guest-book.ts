/** A guest book on a development server, and the pages that are opened there. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { vi } from "vitest";
import { type RunningServer, startDev } from "#test/run-tsweb";
import type { TestProject } from "#test/test-project";
import { createGuestBook, createGuestBooks, makeMistake, withoutFolder } from "./guest-book.ts";
import type { Edit, Place } from "./mistake.ts";

/** Long enough for a busy machine: conditions are checked until they are true. */
const WAITING = { timeout: 60_000, interval: 100 };

/** The places of messages that the development server and the browser show. */
export const DEVELOPMENT = ["page", "overlay", "terminal", "console"] as const satisfies readonly Place[];

type DevelopmentPlace = (typeof DEVELOPMENT)[number];

/** Calls a function until it returns without an error. Its last error is thrown after a minute. */
export function waitUntil(check: () => Promise<void>): Promise<void> {
  return vi.waitFor(check, WAITING);
}

/** An edit has its effect after half a second, so that the server rarely receives a request before. */
const UNTIL_EFFECT = { timeout: 60_000, interval: 250 };

/** The page of a new user, and what its console has shown. */
export interface OpenPage {
  readonly page: Page;
  readonly console: readonly string[];
}

/** The mistake in the files of the guest book. */
interface CurrentMistake {
  readonly edits: readonly Edit[];
  readonly files: readonly string[];
  restore(): void;
}

/** A guest book on a development server. */
export class DevGuestBook {
  readonly #project: TestProject;
  readonly #server: RunningServer;
  /** That of the page: its cache has the modules that no mistake changes. */
  readonly #context: BrowserContext;
  /** The page of all users, one after the other: each page would start a process of Chromium. */
  readonly #page: Page;
  #console: string[] = [];
  #mistake: CurrentMistake = { edits: [], files: [], restore: () => undefined };
  /** The length of the terminal's output before the mistake was made; `undefined` once it is read. */
  #outputBefore: number | undefined;

  private constructor(project: TestProject, server: RunningServer, page: Page) {
    this.#project = project;
    this.#server = server;
    this.#context = page.context();
    this.#page = page;
    page.on("console", (message) => this.#console.push(message.text()));
    page.on("pageerror", (error) => this.#console.push(`${error.message}\n${error.stack}`));
  }

  /** Creates a guest book, and starts the development server. */
  static async start(browser: Browser): Promise<DevGuestBook> {
    const project = createGuestBook();
    const server = await startDev(project.dir);
    const context = await browser.newContext({ baseURL: server.address });
    context.setDefaultTimeout(WAITING.timeout);
    return new DevGuestBook(project, server, await context.newPage());
  }

  /**
   * Stops the server, and removes the files.
   *
   * @returns the exit code
   */
  async stop(): Promise<number | null> {
    const code = await this.#server.stop();
    this.#project.remove();
    return code;
  }

  /** Returns the empty page of a new user. */
  async newPage(): Promise<OpenPage> {
    await this.leavePage();
    await this.#context.clearCookies();
    return this.samePage();
  }

  /** Returns the page that is open, with an empty console. */
  samePage(): OpenPage {
    this.#console = [];
    return { page: this.#page, console: this.#console };
  }

  /** Ends what runs in the page. */
  async leavePage(): Promise<void> {
    if (this.#page.url() === "about:blank") return;
    // The page may be loading itself again, and then has another document.
    await vi.waitFor(() => this.#page.evaluate(() => sessionStorage.clear()), 30_000);
    await this.#page.goto("about:blank");
  }

  /** Requests a page without a browser, and returns the text of its `main`. */
  readPage(path: string): Promise<string> {
    return readPage(this.#server.address + path);
  }

  /**
   * Returns a function that returns what the terminal shows since the last mistake was made. Further calls for this mistake: since the
   * call.
   */
  terminalReader(): () => Promise<string> {
    const start = this.#outputBefore ?? this.#server.output().length;
    this.#outputBefore = undefined;
    return async () => this.#server.output().slice(start).replace(ANSI, "");
  }

  /** Returns a function that returns what is shown in a place. */
  readerOf(place: Exclude<DevelopmentPlace, "page">, { page, console }: OpenPage): () => Promise<string> {
    switch (place) {
      case "overlay":
        return () => overlayTextOf(page);
      case "terminal":
        return this.terminalReader();
      case "console":
        return async () => console.join("\n");
    }
  }

  /**
   * Restores the files of the last mistake, makes the next one, and waits until pages show the effect. Does nothing if it was made
   * for the previous row.
   */
  async makeMistake(edits: readonly Edit[]): Promise<void> {
    const last = this.#mistake;
    if (edits === last.edits) return;
    // A new image is no edit: no module contains it yet.
    const files = edits.map(({ file }) => file).filter((file) => !file.endsWith(".svg"));
    this.#outputBefore = this.#server.output().length;
    await this.#change(new Set([...last.files, ...files]), () => {
      last.restore();
      this.#mistake = { edits, files, restore: makeMistake(this.#project, edits) };
    });
  }

  /** Changes files, and waits until the development server has detected the change of each, and until it has taken effect. */
  async #change({ size: files }: ReadonlySet<string>, changeFiles: () => void): Promise<void> {
    const before = Number.parseInt(await this.#edits(), 10);
    changeFiles();
    await vi.waitFor(async () => {
      const edits = await this.#edits();
      const detected = Number.parseInt(edits, 10) - before;
      if (detected < files) throw new Error(`The development server has detected ${detected} of ${files} edits.`);
      // Before, Vite may reload a page that is opened.
      if (edits.endsWith("+")) throw new Error("The edit has not taken effect.");
    }, UNTIL_EFFECT);
  }

  /** Returns the number of edits that the development server has detected, with a `+` while the last has no effect yet. */
  async #edits(): Promise<string> {
    return (await fetch(`${this.#server.address}/__web/dev/@tsweb/edits`)).text();
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours start with the control character ESC
const ANSI = /\u001b\[[0-9;]*m/g;

/**
 * Makes mistakes in guest books that one application loads, each when a page of its own is requested.
 *
 * @returns the texts of these pages
 */
export async function readGuestBooks(mistakes: readonly (readonly Edit[])[]): Promise<string[]> {
  const project = createGuestBooks(mistakes);
  const pages = mistakes.map((_edits, index) => {
    const load = `await import("../${index}/src/app.ts")`;
    return `export const book${index} = page("/${index}", async () => (${load}, null));\n`;
  });
  project.write("src/books.server.tsx", `import { page } from "tsweb";\n${pages.join("")}`);
  project.write(
    "src/app.ts",
    'import { App } from "tsweb";\nimport * as books from "./books.server.tsx";\nexport default new App({ modules: [books] });\n',
  );
  const server = await startDev(project.dir);
  try {
    const texts: string[] = [];
    for (const index of mistakes.keys()) {
      const text = withoutFolder(await readPage(`${server.address}/${index}`), index);
      const [location] = /(?<![\w.])\d+\/src\/\S*/.exec(text) ?? [];
      if (location)
        throw new Error(`The page of guest book ${index} names ${location}, which is of another one:\n${text}`);
      texts.push(text);
    }
    return texts;
  } finally {
    await server.stop();
    project.remove();
  }
}

/** Requests a page, and returns the text of its `main`: the error page has its whole text in the response. */
async function readPage(url: string): Promise<string> {
  const response = await fetch(url, { headers: { accept: "text/html" } });
  const [, markup = ""] = /<main>(.*)<\/main>/s.exec(await response.text()) ?? [];
  return unescapeHtml(markup.replace(/<[^>]*>/g, "\n"));
}

/** Returns the text of which the error page has made this markup. */
function unescapeHtml(markup: string): string {
  const entities = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };
  return Object.entries(entities).reduce((text, [name, char]) => text.replaceAll(`&${name};`, char), markup);
}

/**
 * Returns the text of overlays; empty while the page is reloading. A locator would load Playwright's script into the page, which
 * costs as much as the page.
 */
async function overlayTextOf(page: Page): Promise<string> {
  try {
    return await page.evaluate(() => {
      const overlays = [...document.querySelectorAll("vite-error-overlay")];
      return overlays.map(({ shadowRoot }) => shadowRoot?.querySelector<HTMLElement>(".window")?.innerText).join("\n");
    });
  } catch (error) {
    if (String(error).includes("Execution context was destroyed")) return "";
    throw error;
  }
}
