/**
 * Reports uncaught errors of a page: exceptions, rejected promises that nothing awaits, and errors that were passed to
 * `reportError`.
 *
 * Not reported: errors that a listener has handled with `preventDefault()`, rejections that are handled a moment later,
 * calls that were cancelled, view transitions that the browser has skipped, and errors of browser extensions and other origins.
 *
 * An error that repeats is reported once, until the user does something in the page: an overlay that is closed does not
 * return by itself. Only the first error opens the overlay, because others are often its consequences.
 *
 * An error shortly after an update is held until the server has rendered the page once more, and dropped if the page is
 * reloaded or the module is updated again: of several files that are saved at once, an edited view may be updated first, and
 * runs with the props and functions of the old server modules. From the request to reload until the page is left, no errors
 * are reported: an update may arrive in between, and the server needs time to render the new page. Exceptions that are held
 * are withheld from the console and from other listeners too, and passed on with `reportError` if they are reported.
 */
import { ERROR_EVENT, UPDATE_FAILURE_EVENT, VIEWS_UPDATE_EVENT, WARNING_EVENT } from "../../../protocol/index.ts";
import { hot } from "./hot.ts";

declare global {
  interface WindowEventMap {
    readonly [UPDATE_FAILURE_EVENT]: CustomEvent<unknown>;
    readonly [WARNING_EVENT]: CustomEvent<unknown>;
  }
}

const MAX_REPORTS = 50;
const HANDLING_DELAY_MS = 200;
const UPDATE_MS = 1000;
const RELOAD_DELAY_MS = 300;
const RENDERING_MS = 30_000;
const MAX_CAUSES = 4;

/** An error as it is sent. The page may throw anything, so the fields of an error may have any type. */
interface Report {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly stack?: unknown;
  readonly source?: unknown;
  readonly cause?: Report | undefined;
}

const reported = new Set<string>();
const rejections = new Map<Promise<unknown>, ReturnType<typeof setTimeout>>();
let hasOverlay = false;
let isLeaving = false;
let isReloading = false;
let updatedAt = Number.NEGATIVE_INFINITY;
let settled: Promise<unknown> | undefined;

/** Reports that are held, and the functions that send them. */
const held = new Map<Report, () => void>();

/** Returns whether the page is about to be reloaded. */
export function isPageReloading(): boolean {
  return isReloading;
}

/** From now on, no error is reported because the page is reloaded; or errors are reported again. */
export function setPageReloading(value: boolean): void {
  isReloading = value;
}

/** Returns whether an error of the page was reported or is held, since the user has last done something in the page. */
export function hasErrors(): boolean {
  return hasOverlay || held.size > 0;
}

/** Requests the page once more. Never rejects: Vite's client shows that it has lost the connection. */
export function requestPage(): Promise<Response | undefined> {
  return fetch(location.href, {
    headers: { accept: "text/html" },
    cache: "no-store",
    signal: AbortSignal.timeout(RENDERING_MS),
  }).catch(() => undefined);
}

function describeValue(value: unknown): string {
  try {
    return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

function describeError(error: unknown, depth = 0): Report {
  if (!(error instanceof Error)) return { name: "Thrown value", message: describeValue(error), stack: "" };
  const { name, message, stack, source, cause }: Error & { readonly source?: unknown } = error;
  const isLast = cause === undefined || cause === null || depth >= MAX_CAUSES;
  return { name, message, stack, source, cause: isLast ? undefined : describeError(cause, depth + 1) };
}

/** Returns whether an error is of an extension, or a script of another origin: those have other URLs at the top of the stack. */
function isForeign({ stack = "" }: Report): boolean {
  const [url] = /[\w-]+:\/\/[^\s)]+/.exec(String(stack)) ?? [];
  return url !== undefined && !url.startsWith(`${location.origin}/`);
}

function isHolding(): boolean {
  return isReloading || performance.now() - updatedAt <= UPDATE_MS;
}

function report(described: Report, release = () => send(described)): void {
  if (isReloading) return;
  if (!isHolding()) {
    release();
    return;
  }
  held.set(described, release);
  settled ??= new Promise((resolve) => setTimeout(resolve, RELOAD_DELAY_MS)).then(requestPage);
  settled.then(() => held.delete(described) && release());
}

function send(described: Report): void {
  const key = JSON.stringify(described);
  if (isLeaving || isForeign(described) || reported.has(key) || reported.size >= MAX_REPORTS) return;
  reported.add(key);
  hot.send(ERROR_EVENT, { ...described, overlay: !hasOverlay });
  hasOverlay = true;
}

// Chromium dispatches no "unhandledrejection" for an error whose stack is empty, as that of Response.json() is. So the error is
// replaced by an equal one, with the stack of the call.
const readJson: (this: Response) => Promise<unknown> = Response.prototype.json;
Response.prototype.json = function json() {
  const located = new SyntaxError();
  Error.captureStackTrace?.(located, json);
  return readJson.call(this).catch((error: unknown) => {
    if (!(error instanceof SyntaxError) || /:\d+:\d+/.test(error.stack ?? "")) throw error;
    const stack = located.stack?.replace("SyntaxError", () => String(error));
    for (const [key, value] of Object.entries({ message: error.message, stack })) {
      Object.defineProperty(located, key, { value, configurable: true, writable: true });
    }
    throw located;
  });
};

/** The release of an exception, while its event is dispatched. */
let releasing: { event?: ErrorEvent } | undefined;

/** Shows an exception that was withheld in the console, and sends it unless another listener handles it. */
function releaseError(error: Error, described: Report): void {
  const release: { event?: ErrorEvent } = {};
  releasing = release;
  reportError(error);
  releasing = undefined;
  if (!release.event?.defaultPrevented) send(described);
}

addEventListener("error", (event) => {
  if (releasing) {
    releasing.event = event;
    return;
  }
  const { message, filename, lineno, colno } = event;
  const error: unknown = event.error;
  const isMissing = error === null || error === undefined;
  // A script of another origin, and notices of the browser such as "ResizeObserver loop", have no position.
  if (isMissing && !(filename && lineno)) return;
  if (error instanceof Error) {
    const described = describeError(error);
    if (!event.defaultPrevented && isHolding()) {
      event.preventDefault();
      event.stopImmediatePropagation();
      report(described, () => releaseError(error, described));
    } else reportUnlessHandled(event, described);
    return;
  }
  const stack = filename ? `    at ${filename}:${lineno}:${colno}` : "";
  reportUnlessHandled(event, { ...(isMissing ? { name: "Error", message } : describeError(error)), stack });
});

/** Other listeners may handle an error: they run after this one. */
function reportUnlessHandled(event: ErrorEvent, described: Report): void {
  setTimeout(() => event.defaultPrevented || report(described));
}

addEventListener(UPDATE_FAILURE_EVENT, (event) => {
  if (!isHolding()) return;
  event.preventDefault();
  const { detail } = event;
  report({ stack: String(Object(detail).stack ?? detail) }, () => console.error("[vite]", detail));
});

/**
 * Returns whether a browser has skipped a view transition between two pages (`@view-transition`): when one of them is hidden,
 * slow or replaced, it rejects promises that the page did not create.
 */
function isSkippedTransition({ name, message }: DOMException): boolean {
  return (name === "InvalidStateError" || name === "TimeoutError") && /\btransition\b/i.test(message);
}

addEventListener("unhandledrejection", (event) => {
  const { promise } = event;
  const reason: unknown = event.reason;
  if (reason instanceof DOMException && (reason.name === "AbortError" || isSkippedTransition(reason))) return;
  const described = describeError(reason);
  const timer = setTimeout(() => {
    rejections.delete(promise);
    if (!event.defaultPrevented) report(described);
  }, HANDLING_DELAY_MS);
  rejections.set(promise, timer);
});

addEventListener("rejectionhandled", ({ promise }) => {
  clearTimeout(rejections.get(promise));
  rejections.delete(promise);
});

function forget(): void {
  reported.clear();
  hasOverlay = false;
}

for (const type of ["pointerdown", "keydown", "submit"] as const) {
  const forgetUnlessClosed = (event: Event) => {
    if (Object(event.target).localName !== "vite-error-overlay" && Object(event).key !== "Escape") forget();
  };
  addEventListener(type, forgetUnlessClosed, { capture: true });
}

function drop(isObsolete: (described: Report) => boolean): void {
  for (const described of held.keys()) if (isObsolete(described)) held.delete(described);
}

function startUpdate(): void {
  updatedAt = performance.now();
  settled = undefined;
}

hot.on("vite:beforeUpdate", ({ updates }) => {
  forget();
  startUpdate();
  drop(({ stack }) => updates.some(({ path }) => String(stack).includes(path)));
});
// The modules of an update are loaded first, which takes time. Preact renders them after this event.
addEventListener(VIEWS_UPDATE_EVENT, startUpdate);
hot.on("vite:beforeFullReload", ({ path }) => {
  if (path?.endsWith(".html")) return; // Vite reloads only the page of this file
  isReloading = true;
  drop(() => true);
});
// The user can cancel a reload if a listener of the page requests it.
addEventListener("beforeunload", (event) => {
  setTimeout(() => {
    isReloading &&= !event.defaultPrevented && !event.returnValue;
  });
});
addEventListener("pagehide", () => {
  isLeaving = true;
});
addEventListener("pageshow", () => {
  isLeaving = false;
});

addEventListener(WARNING_EVENT, (event) => {
  event.preventDefault();
  hot.send(WARNING_EVENT, describeError(event.detail));
});
hot.on(WARNING_EVENT, ({ text }: { readonly text: string }) => console.warn(text));
