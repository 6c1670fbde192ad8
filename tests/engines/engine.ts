/**
 * What the scenarios of this folder use of a browser engine, and what the drivers of all engines have in common.
 */
import { setTimeout as sleep } from "node:timers/promises";

/** Text and numbers: what every driver can pass to a script of the page. */
export type ScriptArgument = string | number | boolean | null;

/** A function that runs in the page. It may use nothing of the module that it is written in. */
export type PageScript<A extends ScriptArgument[], T> = (...args: A) => T;

/** How long a page may take to do what a scenario waits for. Generous, for a machine under load. */
const TIMEOUT_MS = 30_000;

/** The center of an element, in CSS pixels. */
interface Point {
  readonly x: number;
  readonly y: number;
}

/** A tab. Each driver implements what the engines do differently. */
export abstract class EnginePage {
  /** Opens a URL, and waits until its document is loaded. */
  abstract open(url: string): Promise<void>;
  /** Runs a function in the page. Returns its result, which JSON can represent. */
  abstract evaluate<A extends ScriptArgument[], T>(script: PageScript<A, T>, ...args: A): Promise<T>;
  /** Closes the tab. */
  abstract close(): Promise<void>;
  /** Goes back in the history, like the button of the browser. Does not wait. */
  abstract back(): Promise<void>;
  /** Chooses a file in a field. */
  abstract chooseFile(selector: string, path: string): Promise<void>;
  /** Moves the mouse to a point. */
  protected abstract moveMouse(point: Point): Promise<void>;
  /** Presses the mouse at the first point, moves over the others, and releases it at the last one. */
  protected abstract dragMouse(points: readonly Point[]): Promise<void>;
  /** Sends keys to the element that has the focus. `"\n"` is Enter. */
  protected abstract sendKeys(text: string): Promise<void>;

  /** Clicks an element with the mouse, once it is there and enabled. */
  async click(selector: string): Promise<void> {
    await this.dragMouse([await this.centerOf(selector)]);
  }

  /** Rests the mouse on an element. */
  async hover(selector: string): Promise<void> {
    await this.moveMouse(await this.centerOf(selector));
  }

  /** Replaces the text of a field with keys. Ends with `"\n"` to press Enter. */
  async type(selector: string, text: string): Promise<void> {
    await this.centerOf(selector);
    await this.evaluate((selector) => {
      const field = document.querySelector<HTMLInputElement>(selector);
      field?.focus();
      field?.select();
    }, selector);
    await this.sendKeys(text);
  }

  /** Drags the center of an element to the center of another one. */
  async drag(from: string, to: string): Promise<void> {
    const [start, end] = [await this.centerOf(from), await this.centerOf(to)];
    const between = (share: number) => ({
      x: Math.round(start.x + (end.x - start.x) * share),
      y: Math.round(start.y + (end.y - start.y) * share),
    });
    await this.dragMouse([start, ...[0.1, 0.2, 0.4, 0.6, 0.8, 1, 1].map(between)]);
  }

  /** Waits until a function returns something other than `false`, `null`, `""` or `undefined` in the page, and returns it. */
  async until<A extends ScriptArgument[], T>(script: PageScript<A, T>, ...args: A): Promise<NonNullable<T>> {
    const end = Date.now() + TIMEOUT_MS;
    for (let failure: unknown; ; await sleep(30)) {
      try {
        const result = await this.evaluate(script, ...args);
        if (result) return result;
      } catch (error) {
        failure = error; // the page is being replaced by the next one
      }
      if (Date.now() < end) continue;
      const shown = await this.evaluate(() => `${location.href}\n${document.body.innerText}`);
      throw new Error(
        `After ${TIMEOUT_MS / 1000} s not true: ${script} with ${JSON.stringify(args)}.\nThe page: ${shown}`,
        {
          cause: failure,
        },
      );
    }
  }

  /** Waits until the page shows a text. */
  async untilText(text: string): Promise<void> {
    await this.until((text) => document.body.innerText.includes(text), text);
  }

  /** Waits until the page is at a path, and loaded. */
  async untilPath(path: string): Promise<void> {
    await this.until((path) => location.pathname === path && document.readyState === "complete", path);
  }

  /** Returns the visible text of the page. */
  text(): Promise<string> {
    return this.evaluate(() => document.body.innerText);
  }

  /** Goes back, and waits until that page is shown. The page may be a kept one. */
  async backTo(path: string): Promise<void> {
    await this.back();
    await this.untilPath(path);
  }

  private async centerOf(selector: string): Promise<Point> {
    const point = await this.until((selector) => {
      const element = document.querySelector(selector);
      if (!element || element.matches(":disabled")) return null;
      element.scrollIntoView({ block: "center", behavior: "instant" });
      const { left, top, width, height } = element.getBoundingClientRect();
      if (width === 0) return null;
      return [Math.round(left + width / 2), Math.round(top + height / 2)];
    }, selector);
    return { x: point[0] ?? 0, y: point[1] ?? 0 };
  }
}

/** A user: tabs that share cookies, which no other user has. */
export interface EngineContext {
  /** Opens a tab. */
  newPage(): Promise<EnginePage>;
  close(): Promise<void>;
}

/** The options of a user. */
export interface ContextOptions {
  /** Whether pages run their scripts. Default: true. */
  readonly isScriptOn?: boolean;
  /** Whether pages have transitions. WebKitGTK ends at one without compositing, which other scenarios do not need. Default: false. */
  readonly hasTransitions?: boolean;
}

/** A browser of an engine that runs. */
export interface Engine {
  /** Returns a new user. */
  newContext(options?: ContextOptions): Promise<EngineContext>;
  close(): Promise<void>;
}
