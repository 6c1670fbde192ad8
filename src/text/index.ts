/** Texts of messages that several parts share: similar names, and advice about errors of the engine. */

/**
 * Returns the candidate that a name probably means: the one with the fewest changed letters, at most one in three.
 * `undefined` if none is that close.
 *
 * @param maxDistance how many letters may differ even in a long name
 */
export function closestName(
  name: string,
  candidates: Iterable<string>,
  maxDistance = Number.POSITIVE_INFINITY,
): string | undefined {
  const limit = Math.min(maxDistance, Math.max(1, name.length / 3));
  let closest: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance <= limit && distance < (closest?.distance ?? Infinity)) {
      closest = { candidate, distance };
    }
  }
  return closest?.candidate;
}

/** Returns how many letters to insert, delete, replace or swap with the next one, to change one text into the other. */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current[column] = Math.min(
        cell(last, column) + 1,
        cell(current, column - 1) + 1,
        cell(last, column - 1) + (isSame ? 0 : 1),
        isSwapped ? cell(beforeLast, column - 2) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return cell(last, other.length);
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}

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

const CALL =
  /(?<![\w$.])(?<value>[\w$]+(?:\.[\w$]+)*)\.(?<method>get(?:UTC)?(?:Date|Day|FullYear|Hours|Milliseconds|Minutes|Month|Seconds)|getTime|getTimezoneOffset|to(?:Locale)?(?:Date|Time)String|toISOString|toUTCString) is not a function\b/;

/**
 * Returns how to read a date that has arrived as a string, if an error is the call of a method that only dates have:
 * "at.getTime is not a function". Otherwise an empty string.
 */
export function dateMethodAdvice({ name, message }: { readonly name?: string; readonly message: string }): string {
  const { value, method } = (name === "TypeError" && CALL.exec(message)?.groups) || {};
  if (value === undefined || method === undefined) return "";
  return (
    `If \`${value}\` is a date, it has arrived as a string, because props, arguments, results and messages are sent as ` +
    `JSON. Write \`new Date(${value}).${method}()\`.`
  );
}

/** The modules that export what applications call or render, as an import names them. */
const EXPORTS: Readonly<Record<string, readonly string[]>> = {
  '"tsweb/browser"': [
    ...[
      "view",
      "state",
      "on_mount",
      "on_unmount",
      "on_progress",
      "present",
      "subscribe",
      "live",
      "optimistic",
      "no_wait",
    ],
  ],
  '"tsweb"': [
    ...["App", "page", "route", "server", "session", "request", "redirect", "once", "channel", "publish", "realtime"],
    ...[
      "query",
      "revalidate",
      "Later",
      "presence",
      "who",
      "listen",
      "limit",
      "send_file",
      "project_path",
      "Head",
      "Html",
      "Body",
      "NotFound",
    ],
    ...["ValueError", "ConfigError", "GapError", "SerializeError"],
  ],
  '"tsweb", or in a view from "tsweb/browser"': ["RPCError", "form"],
  '"preact/hooks"': [
    ...["useReducer", "useLayoutEffect", "useRef", "useMemo", "useCallback", "useContext", "useId"],
    ...["useImperativeHandle", "useErrorBoundary"],
  ],
  '"preact"': ["Fragment", "createContext", "createRef"],
};

/** What tsweb has in place of a hook. */
const ALTERNATIVES: Readonly<Record<string, string>> = { useState: "state", useEffect: "on_mount" };

/**
 * Returns which import is missing, if an error is about a name of tsweb or Preact: what "state is not defined" leaves out.
 * Otherwise an empty string.
 */
export function missingImportAdvice({ name, message }: { readonly name?: string; readonly message: string }): string {
  const missing = name === "ReferenceError" ? /^(\w+) is not defined$/.exec(message)?.[1] : undefined;
  if (missing === undefined) return "";
  if (Object.hasOwn(ALTERNATIVES, missing)) {
    const own = `Use \`${ALTERNATIVES[missing]}\`, imported from "tsweb/browser"`;
    return `${missing} is not imported. ${own}, or import ${missing} from "preact/hooks".`;
  }
  const [module] = Object.entries(EXPORTS).find(([, names]) => names.includes(missing)) ?? [];
  return module === undefined ? "" : `${missing} is not imported. Import it from ${module}.`;
}

/**
 * Returns how to call the application itself on the server, if an error is that of `fetch` for a URL without an origin:
 * "Failed to parse URL from /api/guests". Otherwise an empty string.
 */
export function relativeUrlAdvice({ name, message }: { readonly name?: string; readonly message: string }): string {
  const url = name === "TypeError" ? /^Failed to parse URL from (\/\S*)$/.exec(message)?.[1] : undefined;
  if (url === undefined) return "";
  return (
    "On the server, fetch needs a complete URL. To use what the application itself serves, call the function that the route " +
    `of ${url.replace(/[?#].*$/, "")} calls.`
  );
}
