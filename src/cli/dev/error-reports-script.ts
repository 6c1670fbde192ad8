import { VIEWS_UPDATE_EVENT } from "../../protocol/index.ts";
import { ERROR_EVENT, UPDATE_FAILURE_EVENT, WARNING_EVENT } from "./server/index.ts";

/**
 * The first part of the script of a page. It reports uncaught errors: exceptions, rejected promises that nothing awaits, and errors
 * that were passed to `reportError`.
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
export const REPORT_ERRORS = `
const MAX_REPORTS = 50;
const HANDLING_DELAY_MS = 200;
const UPDATE_MS = 1000;
const RELOAD_DELAY_MS = 300;
const RENDERING_MS = 30_000;
const hot = import.meta.hot;
const reported = new Set();
const rejections = new Map();
let hasOverlay = false;
let isLeaving = false;
let isReloading = false;
let updatedAt = Number.NEGATIVE_INFINITY;
let settled;
// Reports that are held, and the functions that send them.
const held = new Map();

// Never rejects: Vite's client shows that it has lost the connection.
const requestPage = () =>
  fetch(location.href, {
    headers: { accept: "text/html" }, cache: "no-store", signal: AbortSignal.timeout(RENDERING_MS),
  }).catch(() => undefined);

const describeValue = (value) => {
  try {
    return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
};

const describe = (error, depth = 0) => {
  if (!(error instanceof Error)) return { name: "Thrown value", message: describeValue(error), stack: "" };
  const { name, message, stack, source, cause } = error;
  return {
    name, message, stack, source,
    cause: cause === undefined || cause === null || depth > 3 ? undefined : describe(cause, depth + 1),
  };
};

// Extensions and scripts of other origins have other URLs at the top of the stack.
const isForeign = ({ stack = "" }) => {
  const [url] = /[\\w-]+:\\/\\/[^\\s)]+/.exec(String(stack)) ?? [];
  return url !== undefined && !url.startsWith(location.origin + "/");
};

const isHolding = () => isReloading || performance.now() - updatedAt <= UPDATE_MS;

const report = (described, release = () => send(described)) => {
  if (isReloading) return;
  if (!isHolding()) return release();
  held.set(described, release);
  settled ??= new Promise((resolve) => setTimeout(resolve, RELOAD_DELAY_MS)).then(requestPage);
  settled.then(() => held.delete(described) && release());
};

const send = (described) => {
  const key = JSON.stringify(described);
  if (isLeaving || isForeign(described) || reported.has(key) || reported.size >= MAX_REPORTS) return;
  reported.add(key);
  hot.send("${ERROR_EVENT}", { ...described, overlay: !hasOverlay });
  hasOverlay = true;
};

// Chromium dispatches no "unhandledrejection" for an error whose stack is empty, as that of Response.json() is. So the error is
// replaced by an equal one, with the stack of the call.
const readJson = Response.prototype.json;
Response.prototype.json = function json() {
  const located = new SyntaxError();
  Error.captureStackTrace?.(located, json);
  return readJson.call(this).catch((error) => {
    if (!(error instanceof SyntaxError) || /:\\d+:\\d+/.test(error.stack)) throw error;
    const stack = located.stack.replace("SyntaxError", () => String(error));
    for (const [key, value] of Object.entries({ message: error.message, stack })) {
      Object.defineProperty(located, key, { value, configurable: true, writable: true });
    }
    throw located;
  });
};

let releasedEvent;
let isReleasing = false;

// Shows an exception that was withheld in the console, and sends it unless another listener handles it.
const release = (error, described) => {
  isReleasing = true;
  releasedEvent = undefined;
  reportError(error);
  isReleasing = false;
  if (!releasedEvent?.defaultPrevented) send(described);
};

addEventListener("error", (event) => {
  if (isReleasing) {
    releasedEvent = event;
    return;
  }
  const { error, message, filename, lineno, colno } = event;
  if (error === null || error === undefined) {
    // A script of another origin, and notices of the browser such as "ResizeObserver loop", have no position.
    if (!filename || !lineno) return;
  }
  const described = error instanceof Error ? describe(error) : {
    ...(error === null || error === undefined ? { name: "Error", message } : describe(error)),
    stack: filename ? "    at " + filename + ":" + lineno + ":" + colno : "",
  };
  if (error instanceof Error && !event.defaultPrevented && isHolding()) {
    event.preventDefault();
    event.stopImmediatePropagation();
    report(described, () => release(error, described));
    return;
  }
  // Other listeners may handle it: they run after this one.
  setTimeout(() => event.defaultPrevented || report(described));
});

addEventListener("${UPDATE_FAILURE_EVENT}", (event) => {
  if (!isHolding()) return;
  event.preventDefault();
  const { detail } = event;
  report({ stack: String(detail?.stack ?? detail) }, () => console.error("[vite]", detail));
});

// A browser skips a view transition between two pages (\`@view-transition\`) when one of them is hidden, slow or replaced, and
// rejects promises that the page did not create.
const isSkippedTransition = ({ name, message }) =>
  (name === "InvalidStateError" || name === "TimeoutError") && /\\btransition\\b/i.test(message);

addEventListener("unhandledrejection", (event) => {
  const { promise, reason } = event;
  if (reason instanceof DOMException && (reason.name === "AbortError" || isSkippedTransition(reason))) return;
  const described = describe(reason);
  rejections.set(promise, setTimeout(() => {
    rejections.delete(promise);
    if (!event.defaultPrevented) report(described);
  }, HANDLING_DELAY_MS));
});

addEventListener("rejectionhandled", ({ promise }) => {
  clearTimeout(rejections.get(promise));
  rejections.delete(promise);
});

const forget = () => {
  reported.clear();
  hasOverlay = false;
};
for (const type of ["pointerdown", "keydown", "submit"]) {
  addEventListener(type, ({ target, key }) => {
    if (target?.localName !== "vite-error-overlay" && key !== "Escape") forget();
  }, { capture: true });
}
const drop = (isObsolete) => {
  for (const described of held.keys()) if (isObsolete(described)) held.delete(described);
};
const startUpdate = () => {
  updatedAt = performance.now();
  settled = undefined;
};
hot.on("vite:beforeUpdate", ({ updates }) => {
  forget();
  startUpdate();
  drop(({ stack }) => updates.some(({ path }) => stack.includes(path)));
});
// The modules of an update are loaded first, which takes time. Preact renders them after this event.
addEventListener("${VIEWS_UPDATE_EVENT}", startUpdate);
hot.on("vite:beforeFullReload", ({ path }) => {
  if (path?.endsWith(".html")) return; // Vite reloads only the page of this file
  isReloading = true;
  drop(() => true);
});
// The user can cancel a reload if a listener of the page requests it.
addEventListener("beforeunload", (event) => {
  setTimeout(() => { isReloading &&= !event.defaultPrevented && !event.returnValue; });
});
addEventListener("pagehide", () => { isLeaving = true; });
addEventListener("pageshow", () => { isLeaving = false; });

addEventListener("${WARNING_EVENT}", (event) => {
  event.preventDefault();
  hot.send("${WARNING_EVENT}", describe(event.detail));
});
hot.on("${WARNING_EVENT}", ({ text }) => console.warn(text));
`;
