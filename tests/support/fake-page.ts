/**
 * A page with subscriptions, without a browser. The test responds to its requests and advances its clock. Reloads,
 * errors and console output are recorded.
 */
import { vi } from "vitest";
import type { subscribe } from "../../src/browser/subscribe.ts";

/** The state in which a page is opened. */
export interface FakePageOptions {
  /** The base of the application. */
  readonly base?: string;
  /** The `nextHopProtocol` of the page's navigation. */
  readonly protocol?: string;
  /** The `type` of the page's navigation. */
  readonly navigation?: "navigate" | "reload";
  readonly hidden?: boolean;
  /** The id of the page's build. */
  readonly build?: string;
  /** Whether the request for the code of polls never ends. */
  readonly pollsHang?: boolean;
}

/** A form field of the page. */
export interface FakeField {
  value: string;
  /** The value that the server sent. */
  readonly initialValue: string;
}

/** The body of a request by POST. */
interface LiveRequestBody {
  readonly feeds: string[];
  readonly tokens: string[];
  readonly queries?: string[];
  readonly cursor: string;
  readonly wait?: number;
}

/** What the page passes to `fetch`. */
interface LiveRequestInit {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  readonly cache?: RequestCache;
}

interface PromiseSettlers {
  readonly resolve: (response: Response) => void;
  readonly reject: (reason: unknown) => void;
}

/** A request of the page. */
export class PageRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly cache: RequestCache | undefined;
  readonly #body: LiveRequestBody | undefined;
  readonly #settle: PromiseSettlers;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(url: string, init: LiveRequestInit, settle: PromiseSettlers) {
    const { method = "GET", headers, body, signal = new AbortController().signal, cache } = init;
    this.url = new URL(url, "http://shop.example");
    this.method = method;
    this.headers = new Headers(headers);
    this.#body = body === undefined ? undefined : (JSON.parse(body) as LiveRequestBody); // what the page sends
    this.signal = signal;
    this.cache = cache;
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
    return this.#body?.feeds ?? this.url.searchParams.getAll("feed");
  }

  get after(): string | null {
    return this.#body?.cursor ?? this.url.searchParams.get("after");
  }

  get wait(): string | null {
    return this.#body?.wait === undefined ? this.url.searchParams.get("wait") : String(this.#body.wait);
  }

  get tokens(): string[] {
    return this.#body?.tokens ?? [];
  }

  get queries(): string[] | undefined {
    return this.#body?.queries;
  }

  /** Sends a response. */
  respond(response: Response): void {
    this.#settle.resolve(response);
  }

  /** Sends a response with JSON, as for a poll. */
  respondJson(body: unknown, status = 200): void {
    this.respond(Response.json(body, { status }));
  }

  /** Fails the request, as without a network. */
  fail(): void {
    this.#settle.reject(new TypeError("Failed to fetch"));
  }

  /** Sends the start of an event stream, with its `retry` field. */
  respondStream({ retry = 2000, type = "text/event-stream" } = {}): this {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#stream = controller;
      },
    });
    this.respond(new Response(body, { headers: { "content-type": type } }));
    this.push(`retry: ${retry}\n\n`);
    return this;
  }

  /** Sends a part of the event stream, in one chunk. */
  push(text: string): this {
    this.#stream?.enqueue(new TextEncoder().encode(text));
    return this;
  }

  /** Ends the event stream normally. */
  endBody(): void {
    this.#stream?.close();
  }

  /** Ends the event stream with a network error. */
  breakConnection(): void {
    this.#error(new TypeError("network error"));
  }

  #error(reason: unknown): void {
    try {
      this.#stream?.error(reason);
    } catch {
      // The body has already ended.
    }
  }
}

/** Returns the id of an event: a cursor as the positions of all feeds. */
function idOf(cursor: string): string {
  const positions = cursor.split(",").map((position, index) => `${index}=${position}`);
  return cursor.includes("=") ? cursor : positions.join();
}

/** Encodes events of an event stream. @see docs/protocol.md 10.5 */
export const encodeEvent = {
  message: (cursor: string, channel: string, data: unknown): string =>
    `id: ${idOf(cursor)}\ndata: ${channel}\ndata: ${JSON.stringify(data)}\n\n`,
  gap: (cursor: string, channel: string, reason: string, windowMs?: number): string =>
    `id: ${idOf(cursor)}\nevent: gap\ndata: ${channel}\ndata: ${reason}\n${windowMs === undefined ? "" : `data: ${windowMs}\n`}\n`,
  ping: "event: ping\ndata: 1\n\n",
  query: (id: string, frame: object): string => `event: query\ndata: ${id}\ndata: ${JSON.stringify(frame)}\n\n`,
  tags: (tags: object): string => `event: tags\ndata: 1\ndata: ${JSON.stringify(tags)}\n\n`,
};

/** A page. */
export class FakePage {
  /** All requests so far, oldest first. */
  readonly requests: PageRequest[] = [];
  /** Errors that were passed to `reportError`. */
  readonly reportedErrors: unknown[] = [];
  /** The texts that were passed to `console.error`. */
  readonly consoleErrors: string[] = [];
  readonly fields: FakeField[] = [];
  reloadCount = 0;
  /** The element with the focus. */
  activeElement: { readonly isContentEditable?: boolean } | null = null;
  subscribe: typeof subscribe = () => {
    throw new Error("The page is not open yet.");
  };

  readonly #target = new EventTarget();
  #hidden: boolean;

  private constructor(hidden: boolean) {
    this.#hidden = hidden;
  }

  /** Opens a page, with newly loaded modules and no requests. The test has to use fake timers. */
  static async open(options: FakePageOptions = {}): Promise<FakePage> {
    const page = new FakePage(options.hidden ?? false);
    page.#stubGlobals(options);
    vi.resetModules();
    ({ subscribe: page.subscribe } = await import("../../src/browser/subscribe.ts"));
    // So that the page has it within a turn of the clock.
    if (!options.pollsHang) await import("../../src/browser/live-poll.ts").catch(() => {});
    return page;
  }

  /** The last request. */
  get lastRequest(): PageRequest {
    const request = this.requests.at(-1);
    if (!request) throw new Error("The page has sent no request.");
    return request;
  }

  /** Advances the clock, and runs the timers that are due. */
  async advance(ms = 0): Promise<void> {
    await vi.advanceTimersByTimeAsync(ms);
  }

  /** Advances the clock in steps of 50 ms until there is another request. @returns the time in milliseconds */
  async waitForRequest(maxMs = 120_000): Promise<number> {
    const before = this.requests.length;
    for (let waitedMs = 0; waitedMs <= maxMs; waitedMs += 50) {
      if (this.requests.length > before) return waitedMs;
      await this.advance(50);
    }
    throw new Error(`The page has sent no request within ${maxMs} ms.`);
  }

  /** Dispatches an event of the document and the window. */
  emit(type: string, properties: object = {}): void {
    this.#target.dispatchEvent(Object.assign(new Event(type), properties));
  }

  hide(): void {
    this.#hidden = true;
    this.emit("visibilitychange");
  }

  show(): void {
    this.#hidden = false;
    this.emit("visibilitychange");
  }

  #stubGlobals({ base = "", build, protocol = "h2", navigation = "navigate" }: FakePageOptions): void {
    const addEventListener = this.#target.addEventListener.bind(this.#target);
    vi.stubGlobal("addEventListener", addEventListener);
    vi.stubGlobal("document", this.#createDocument({ base, build, views: [] }, addEventListener));
    const { performance } = globalThis;
    const openedAt = performance.now();
    const entries = [{ nextHopProtocol: protocol, type: navigation }];
    vi.stubGlobal("performance", { now: () => performance.now() - openedAt, getEntriesByType: () => entries });
    vi.stubGlobal("location", { href: "http://shop.example/room", reload: () => this.reloadCount++ });
    vi.stubGlobal("history", { state: null, replaceState: () => undefined });
    vi.stubGlobal("reportError", (error: unknown) => this.reportedErrors.push(error));
    vi.stubGlobal("navigator", {}); // without locks
    vi.stubGlobal("fetch", (url: string, init: LiveRequestInit = {}) => {
      return new Promise<Response>((resolve, reject) => {
        this.requests.push(new PageRequest(url, init, { resolve, reject }));
      });
    });
    vi.spyOn(console, "error").mockImplementation((text: unknown) => void this.consoleErrors.push(String(text)));
  }

  #createDocument(pageData: object, addEventListener: EventTarget["addEventListener"]): object {
    const page = this;
    return {
      addEventListener,
      get hidden() {
        return page.#hidden;
      },
      get activeElement() {
        return page.activeElement;
      },
      querySelector: (selector: string) =>
        selector === "script#tsweb" ? { textContent: JSON.stringify(pageData) } : null,
      querySelectorAll: () =>
        page.fields.map((field) => ({ ...field, cloneNode: () => ({ value: field.initialValue }) })),
      createElement: () => ({ append: () => {}, reset: () => {} }),
    };
  }
}
