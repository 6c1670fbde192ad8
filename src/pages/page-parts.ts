import { type ComponentChildren, h } from "preact";
import { statusOf } from "../errors.ts";
import {
  isAbortError,
  isPrefetch,
  isPromise,
  logRefusal,
  PrefetchError,
  Redirect,
  type RequestContext,
  runInContext,
  UnavailableError,
} from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import type { Markup, PageSource } from "../protocol/index.ts";
import { keepSession } from "../session/index.ts";
import { DefaultError, type ErrorPage, type ErrorPageProps, InsidePart, isPageError } from "./error-page.ts";
import { partComment } from "./later.ts";
import { attempt, type Outcome } from "./layout.ts";
import { describeLocation, type Island, MarkupError, type Part, type RenderState } from "./render-state.ts";
import { renderMarkup } from "./rendering.ts";

/** The time limit of the parts of a page without the option `later_timeout`, in seconds. */
const DEFAULT_TIMEOUT_SECONDS = 30;

/** The document that the parts belong to. */
export interface PartsOwner {
  readonly context: RequestContext;
  /** The state with which the document was rendered. */
  readonly state: RenderState;
  /** The page; `null` for an error page. */
  readonly source: PageSource | null;
  readonly error: ErrorPage;
  readonly log: AppLog;
  /** The time limit of all parts together, in seconds. */
  readonly timeoutSeconds?: number | undefined;
}

/** A part that is ready. */
export interface RenderedPart {
  readonly part: Part;
  readonly html: string;
  /** The islands of the part, in order. */
  readonly islands: readonly Island[];
  /** The number of the first one. */
  readonly firstIsland: number;
}

/** Returns the body of a document with its parts in their places. */
export async function renderInPlace(body: string, owner: PartsOwner): Promise<string> {
  const { context } = owner;
  const parts = new PageParts(owner);
  let html = body;
  context.headersSent = true; // a part must not depend on how it is sent
  try {
    for (let next = await parts.next(); next; next = await parts.next()) {
      const rendered = next;
      html = html.replace(partComment(rendered.part.name), () => rendered.html);
    }
  } finally {
    parts.end();
    context.headersSent = false;
  }
  return html;
}

/** The texts of a document of which parts follow. */
export interface StreamedDocument {
  /** What is sent at once. */
  readonly start: string;
  /** Returns what is sent for a part. */
  write(rendered: RenderedPart): string;
  /** What is sent after the last part. */
  readonly end: string;
}

/**
 * Returns the body of a document whose parts follow when they are ready, in any order. The parts run once the document is sent, and
 * each is rendered when the client takes it, so that a slow client has one of them in memory. They end when the client disconnects.
 */
export function streamInParts({ start, write, end }: StreamedDocument, owner: PartsOwner): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const { context } = owner;
  keepSession(context);
  const parts = new PageParts(owner);
  const { signal } = context.inbound;
  // A prefetch counts until its parts have ended. Of other requests, that would delay a sign-out, which a prefetch cannot have.
  const releasePrefetch = isPrefetch(context) ? context.keepBody() : undefined;
  const stop = () => {
    signal.removeEventListener("abort", stop);
    parts.end();
    releasePrefetch?.();
    context.hasEnded = true;
  };
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop); // not every host cancels the body when the client disconnects
  let hasStarted = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (!hasStarted) {
          hasStarted = true;
          controller.enqueue(encoder.encode(start));
          context.hasEnded = false;
          if (signal.aborted) return stop();
          setImmediate(() => parts.start()); // the host writes the document first
          return;
        }
        const rendered = await parts.next();
        controller.enqueue(encoder.encode(rendered ? write(rendered) : end));
        if (rendered) return;
        controller.close();
        stop();
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
}

/** The result of a part, or its error. */
interface FinishedPart {
  readonly part: Part;
  readonly outcome: Outcome<Markup>;
}

/** The parts of one document while they run. */
class PageParts {
  readonly #owner: PartsOwner;
  readonly #abort = new AbortController();
  readonly #running = new Set<Part>();
  readonly #finished: FinishedPart[] = [];
  #startedCount = 0;
  #isEnded = false;
  #timer: NodeJS.Timeout | undefined;
  /** Set when the time is over. */
  #timeout: Error | undefined;
  #onFinished: (() => void) | undefined;

  constructor(owner: PartsOwner) {
    this.#owner = owner;
  }

  /** Starts the parts that were not started. */
  start(): void {
    const { context, state, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = this.#owner;
    if (this.#isEnded) return;
    if (!this.#timer) {
      // A new signal: the page may have read the one that has no time limit.
      context.clearTimeoutSignal();
      context.setTimeoutSignal(this.#abort.signal);
      this.#timer = setTimeout(() => this.#expire(timeoutSeconds), timeoutSeconds * 1000);
    }
    const { list } = state.parts;
    for (let part = list[this.#startedCount]; part; part = list[this.#startedCount]) {
      this.#startedCount++;
      this.#run(part);
    }
  }

  /**
   * Resolves with the next part that is ready; with `null` after the last one, and after {@link end}. Rejects only for a page that is
   * rendered for all clients, if a part has failed.
   */
  async next(): Promise<RenderedPart | null> {
    this.start();
    while (this.#finished.length === 0) {
      if (this.#isEnded || this.#running.size === 0) return null;
      await new Promise<void>((resolve) => {
        this.#onFinished = resolve;
      });
    }
    const finished = this.#finished.shift();
    if (!finished || this.#isEnded) return null;
    const rendered = await this.#render(finished);
    this.start(); // those within it
    return rendered;
  }

  /** Ends the parts that still run: aborts `request.signal`. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#timer);
    if (this.#running.size > 0) this.#abort.abort();
    this.#notify();
  }

  #run(part: Part): void {
    this.#running.add(part);
    const timedOut = this.#timeout && { ok: false as const, error: this.#timeout };
    const outcome = timedOut ?? runInContext(this.#owner.context, () => attempt(part.run));
    const finish = (settled: Outcome<Markup>) => {
      if (this.#running.has(part) && !this.#isEnded) this.#finish(part, settled);
      else if (!settled.ok && !isAbortError(settled.error, this.#owner.context.signal)) this.#log(part, settled.error);
    };
    if (isPromise(outcome)) void outcome.then(finish);
    else finish(outcome);
  }

  #finish(part: Part, outcome: Outcome<Markup>): void {
    this.#running.delete(part);
    this.#finished.push({ part, outcome });
    this.#notify();
  }

  #notify(): void {
    this.#onFinished?.();
    this.#onFinished = undefined;
  }

  #expire(seconds: number): void {
    const error = new PartTimeoutError(`It exceeded its time limit of ${seconds} s.`);
    this.#timeout = error;
    this.#abort.abort(error);
    for (const part of [...this.#running]) this.#finish(part, { ok: false, error });
  }

  async #render({ part, outcome }: FinishedPart): Promise<RenderedPart> {
    const { context } = this.#owner;
    try {
      if (!outcome.ok) throw outcome.error;
      const rendered = runInContext(context, () => this.#renderMarkup(part, checkedMarkup(outcome.value)));
      return this.#isRefusedPrefetch(part) ? this.#reload(part) : rendered;
    } catch (error) {
      if (this.#isRefusedPrefetch(part)) return this.#reload(part);
      if (context.shared) throw error; // it must not be kept in a page for all clients
      if (!isAbortError(error, context.inbound.signal)) this.#log(part, error);
      return runInContext(context, () => this.#renderError(part, error));
    }
  }

  #renderMarkup(part: Part, markup: Markup): RenderedPart {
    const { state } = this.#owner;
    const firstIsland = state.islands.length;
    // An error may have ended an earlier rendering within a view or a form.
    state.viewDepth = 0;
    state.location = part.location;
    state.forms.open = part.form;
    state.forms.select = part.select;
    state.parts.rendered = part;
    try {
      const html = renderMarkup(markup, state, { context: part.context, ids: `L${part.index}` });
      return { part, html, islands: state.islands.slice(firstIsland), firstIsland };
    } catch (error) {
      state.islands.length = firstIsland;
      throw error;
    } finally {
      state.parts.rendered = null;
      state.forms.open = null;
      state.forms.select = null;
    }
  }

  /**
   * Returns whether a part has had an effect that a prefetch may not have, also if it has caught the error. A page as a whole is then
   * answered with 503.
   */
  #isRefusedPrefetch(part: Part): boolean {
    const { context, state, log } = this.#owner;
    const { unavailable } = context;
    if (!state.parts.isStreamed || !(unavailable instanceof PrefetchError)) return false;
    if (state.development) log.warn({ id: context.id }, `${this.#describe(part)}: ${unavailable.message}`);
    return true;
  }

  /** Returns what loads the page again, without a script, once the user has clicked its link: only then is it parsed. */
  #reload(part: Part): RenderedPart {
    const firstIsland = this.#owner.state.islands.length;
    return { part, html: '<meta http-equiv="refresh" content="0">', islands: [], firstIsland };
  }

  /** Renders the error page of the application in the place of a part: without a layout. */
  async #renderError(part: Part, error: unknown): Promise<RenderedPart> {
    const { context, state, error: errorPage, log } = this.#owner;
    context.failedParts++;
    const props = errorProps(error, { id: context.id, isShown: state.development });
    const show = (content: Markup) => {
      const children = wrapFor(part.around[0], content);
      const around = children === content ? [] : part.around; // the error page cannot know where it is shown
      return this.#renderMarkup({ ...part, around }, h(InsidePart.Provider, { value: true, children }));
    };
    try {
      return show(await errorPage(props));
    } catch (cause) {
      log.error({ id: context.id, err: cause }, "The error page failed");
      return show(DefaultError(props));
    }
  }

  #log(part: Part, error: unknown): void {
    const { context, log } = this.#owner;
    if (error instanceof UnavailableError) {
      logRefusal(error, context, log);
      return;
    }
    const subject = this.#describe(part);
    runInContext(context, () => log.error({ id: context.id, err: explained(error, subject) }, `${subject} failed`));
  }

  /** Returns what a part is in messages, with its location in development, and with that of its page in production. */
  #describe({ location }: Part): string {
    const { source } = this.#owner;
    if (location) return `<Later>${describeLocation(location)}`;
    return `<Later> in ${source ? `the page of ${source.file}:${source.line}` : "the error page"}`;
  }
}

class PartTimeoutError extends Error {}

/** @throws Redirect or MarkupError for a result that is no markup */
function checkedMarkup(markup: unknown): Markup {
  if (markup instanceof Redirect) throw markup;
  if (markup === undefined)
    throw new MarkupError("The function of <Later> returned undefined. Return its markup, or null.");
  return markup as Markup; // the renderer checks what is within
}

/** Returns the error to log: for one with which a page decides its response, an error that names the fix. */
function explained(error: unknown, subject: string): unknown {
  const fix =
    "the status of the page was sent before its parts. Decide it in the page function, and await the data for it there.";
  if (error instanceof Redirect) {
    const path = error.location.replace(/[?#].*/s, ""); // its query may have a token
    return new Error(`${subject} redirects to ${JSON.stringify(path)}, but ${fix}`);
  }
  if (isPageError(error)) {
    return new Error(`${subject} throws ${error.code} (${error.message}), but ${fix}`, { cause: error });
  }
  return error;
}

/** Returns what the error page shows in the place of a part. `isShown`: in development, the developer sees the error itself. */
function errorProps(
  error: unknown,
  { id, isShown }: { readonly id: string; readonly isShown: boolean },
): ErrorPageProps {
  if (isPageError(error)) return { id, status: statusOf(error.code), message: error.message };
  if (error instanceof PartTimeoutError) return { id, status: 504, message: "This part of the page took too long." };
  if (error instanceof UnavailableError) return { id, status: error.status, message: error.message };
  const message = isShown && error instanceof Error ? error.message : "Something went wrong on the server.";
  return { id, status: 500, message };
}

/** Puts an error into an element that its place may contain. */
function wrapFor(parent: string | undefined, content: ComponentChildren): ComponentChildren {
  const row = () => h("tr", null, h("td", { colSpan: 1000 }, content));
  switch (parent) {
    case "table":
      return h("tbody", null, row());
    case "tbody":
    case "thead":
    case "tfoot":
      return row();
    case "tr":
      return h("td", { colSpan: 1000 }, content);
    case "ul":
    case "ol":
    case "menu":
      return h("li", null, content);
    case "dl":
      return h("dd", null, content);
    case "select":
    case "optgroup":
    case "datalist":
      return h("option", { disabled: true }, content);
    default:
      return content;
  }
}
