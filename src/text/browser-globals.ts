/** The globals of browsers that a Node version lacks. An error names one only if it does not exist. */
const BROWSER_GLOBALS: ReadonlySet<string> = new Set([
  ...["window", "self", "document", "navigator", "location", "history", "screen", "localStorage", "sessionStorage"],
  ...[
    "indexedDB",
    "caches",
    "alert",
    "confirm",
    "prompt",
    "matchMedia",
    "getComputedStyle",
    "getSelection",
    "scrollTo",
  ],
  ...["innerWidth", "innerHeight", "scrollX", "scrollY", "devicePixelRatio", "addEventListener", "removeEventListener"],
  ...["requestAnimationFrame", "cancelAnimationFrame", "requestIdleCallback", "cancelIdleCallback"],
  ...["Element", "HTMLElement", "Node", "Image", "Audio", "DOMParser", "XMLSerializer", "CSS", "customElements"],
  ...["IntersectionObserver", "MutationObserver", "ResizeObserver", "XMLHttpRequest", "FileReader", "Worker"],
  ...["WebSocket", "EventSource", "Notification", "AudioContext", "SpeechSynthesisUtterance"],
]);

/**
 * Returns why a global of browsers is missing and where to use it, if an error of the server is about one: what
 * "window is not defined" leaves out. Otherwise an empty string.
 */
export function browserGlobalAdvice(error: unknown): string {
  if (!(error instanceof Error) || error.name !== "ReferenceError") return "";
  const name = /^(\w+) is not defined$/.exec(error.message)?.[1];
  if (name === undefined || !BROWSER_GLOBALS.has(name)) return "";
  return (
    `\`${name}\` exists in browsers only, and this code ran on the server, where views are rendered first. Use it in ` +
    "on_mount or in an event handler of a view. Load a package that uses it with `import()` in on_mount."
  );
}
