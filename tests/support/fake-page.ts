/**
 * A page that subscribes, without a browser: its requests are answered by the test, its clock is the
 * test's, and what it does to the page is noted.
 */
import { vi } from "vitest";
import type { subscribe } from "../../src/browser/subscribe.ts";

/** What a page is opened with. */
export interface FakePageOptions {
  readonly base?: string;
  /** As `nextHopProtocol` says it. */
  readonly protocol?: string;
  readonly hidden?: boolean;
  /** What the tab has stored, kept from page to page; `null` where the visitor has forbidden it. */
  readonly storage?: Map<string, string> | null;
}

/** A field of the page: a text and what the server sent. */
export interface FakeField {
  value: string;
  readonly initialValue: string;
}

/** The two ends of a promise. */
interface Settle {
  readonly resolve: (response: Response) => void;
  readonly reject: (reason: unknown) => void;
}

/** One request of the page. */
export class PageRequest {
  readonly url: URL;
  readonly signal: AbortSignal;
  readonly #settle: Settle;
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(address: string, signal: AbortSignal, settle: Settle) {
    this.url = new URL(address, "http://shop.example");
    this.signal = signal;
    this.#settle = settle;
    signal.addEventListener("abort", () => {
      settle.reject(signal.reason);
      this.#error(signal.reason);
    });
  }

  get path(): string {
    return this.url.pathname;
  }

  get feeds(): string[] {
    return this.url.searchParams.getAll("feed");
  }

  get after(): string | null {
    return this.url.searchParams.get("after");
  }

  get wait(): string | null {
    return this.url.searchParams.get("wait");
  }

  respond(response: Response): void {
    this.#settle.resolve(response);
  }

  /** Answers with JSON, as a poll is answered. */
  respondJson(body: unknown, status = 200): void {
    this.respond(Response.json(body, { status }));
  }

  /** Has the network fail. */
  fail(): void {
    this.#settle.reject(new TypeError("Failed to fetch"));
  }

  /** Answers with a stream, which says first how long to wait before coming back. */
  respondStream({ retry = 2000, type = "text/event-stream" } = {}): this {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#body = controller;
      },
    });
    this.respond(new Response(body, { headers: { "content-type": type } }));
    this.push(`retry: ${retry}\n\n`);
    return this;
  }

  /** Sends text over the stream: what is pushed at once arrives at once. */
  push(text: string): this {
    this.#body?.enqueue(new TextEncoder().encode(text));
    return this;
  }

  /** Ends the stream as a server does. */
  endBody(): void {
    this.#body?.close();
  }

  /** Cuts the connection. */
  breakConnection(): void {
    this.#error(new TypeError("network error"));
  }

  #error(reason: unknown): void {
    try {
      this.#body?.error(reason);
    } catch {
      // It has ended already.
    }
  }
}

/** The wire's own words. */
export const encodeEvent = {
  message: (cursor: string, channel: string, data: unknown): string =>
    `id: ${cursor}\ndata: ${channel}\ndata: ${JSON.stringify(data)}\n\n`,
  gap: (cursor: string, channel: string, reason: string): string =>
    `id: ${cursor}\nevent: gap\ndata: ${channel}\ndata: ${reason}\n\n`,
  ping: "event: ping\ndata: 1\n\n",
};

/** A page. */
export class FakePage {
  /** All requests so far, oldest first. */
  readonly requests: PageRequest[] = [];
  /** Uncaught errors. */
  readonly reportedErrors: unknown[] = [];
  /** What the console said as errors. */
  readonly consoleErrors: string[] = [];
  readonly fields: FakeField[] = [];
  reloadCount = 0;
  /** What holds the focus. */
  activeElement: { readonly isContentEditable?: boolean } | null = null;
  subscribe: typeof subscribe = () => {
    throw new Error("The page is not open yet");
  };

  readonly #target = new EventTarget();
  #hidden: boolean;

  private constructor(hidden: boolean) {
    this.#hidden = hidden;
  }

  /** Opens a page: fresh modules, and nothing asked yet. Timers are to be the test's. */
  static async open(options: FakePageOptions = {}): Promise<FakePage> {
    const page = new FakePage(options.hidden ?? false);
    page.#pose(options);
    vi.resetModules();
    ({ subscribe: page.subscribe } = await import("../../src/browser/subscribe.ts"));
    return page;
  }

  /** The last request. */
  get lastRequest(): PageRequest {
    const request = this.requests.at(-1);
    if (!request) throw new Error("Nothing was asked for");
    return request;
  }

  /** Lets time pass, and everything that waits for it happen. */
  async advance(ms = 0): Promise<void> {
    await vi.advanceTimersByTimeAsync(ms);
  }

  /** Lets time pass in steps until there is another request. @returns how long it took, in milliseconds */
  async waitForRequest(longest = 120_000): Promise<number> {
    const before = this.requests.length;
    for (let waited = 0; waited <= longest; waited += 50) {
      if (this.requests.length > before) return waited;
      await this.advance(50);
    }
    throw new Error(`Nothing was asked for within ${longest} ms`);
  }

  emit(type: string, more: object = {}): void {
    this.#target.dispatchEvent(Object.assign(new Event(type), more));
  }

  hide(): void {
    this.#hidden = true;
    this.emit("visibilitychange");
  }

  show(): void {
    this.#hidden = false;
    this.emit("visibilitychange");
  }

  #pose({ base = "", protocol = "h2", storage = new Map() }: FakePageOptions): void {
    const listen = this.#target.addEventListener.bind(this.#target);
    vi.stubGlobal("addEventListener", listen);
    vi.stubGlobal("document", this.#document(base, listen));
    const { performance } = globalThis;
    const entries = [{ nextHopProtocol: protocol }];
    vi.stubGlobal("performance", { now: () => performance.now(), getEntriesByType: () => entries });
    vi.stubGlobal("location", { reload: () => this.reloadCount++ });
    vi.stubGlobal("reportError", (error: unknown) => this.reportedErrors.push(error));
    vi.stubGlobal("sessionStorage", {
      getItem: (key: string) => allowed(storage).get(key) ?? null,
      setItem: (key: string, value: string) => allowed(storage).set(key, value),
    });
    vi.stubGlobal("fetch", (address: string, { signal }: { signal: AbortSignal }) => {
      return new Promise<Response>((resolve, reject) => {
        this.requests.push(new PageRequest(address, signal, { resolve, reject }));
      });
    });
    vi.spyOn(console, "error").mockImplementation((text: unknown) => void this.consoleErrors.push(String(text)));
  }

  #document(base: string, listen: EventTarget["addEventListener"]): object {
    const page = this;
    return {
      addEventListener: listen,
      get hidden() {
        return page.#hidden;
      },
      get activeElement() {
        return page.activeElement;
      },
      querySelector: (selector: string) =>
        selector === "script#tsweb" ? { textContent: JSON.stringify({ base, views: [] }) } : null,
      querySelectorAll: () =>
        page.fields.map((field) => ({ ...field, cloneNode: () => ({ value: field.initialValue }) })),
      createElement: () => ({ append: () => {}, reset: () => {} }),
    };
  }
}

function allowed(storage: Map<string, string> | null): Map<string, string> {
  if (!storage) throw new DOMException("The operation is insecure.", "SecurityError");
  return storage;
}
