import { join } from "node:path";
import type { ErrorPayload, NormalizedHotChannelClient, Plugin } from "vite";
import { namesServerOnlyUrl } from "../../../compile/index.ts";
import { ERROR_EVENT, WARNING_EVENT } from "../../../protocol/index.ts";
import { type ErrorLog, type ExplainedError, explainError, heading, type SourcePosition } from "../../errors/index.ts";
import { isThisMachine, type ServedSourceMaps } from "../server/index.ts";

/** The maximum number of reports that one page may send. Its script sends fewer. */
const MAX_REPORTS = 200;

/**
 * Receives the uncaught errors of pages, prints them, and shows them in Vite's overlay: on the page that has sent the error.
 * Reports from other machines are ignored. The overlay contains lines of modules that a browser has loaded, and of no other
 * file.
 */
export function browserErrors(errors: ErrorLog, maps: ServedSourceMaps): Plugin {
  return {
    name: "tsweb:browser-errors",
    configureServer({ environments, config }) {
      const { hot } = environments.client;
      const sources: Sources = { root: config.root, publicDir: config.publicDir, maps };
      const reports = new WeakMap<object, number>();
      const receive = (report: unknown, client: NormalizedHotChannelClient): BrowserError | undefined => {
        const count = (reports.get(client) ?? 0) + 1;
        reports.set(client, count);
        return isLocal(client) && count <= MAX_REPORTS ? readBrowserError(report, sources) : undefined;
      };
      hot.on(ERROR_EVENT, (report: unknown, client: NormalizedHotChannelClient) => {
        const error = receive(report, client);
        if (!error || isLoadFailure(error)) return;
        const explained = explainError(error, config.root);
        errors.printExplained(explained, idOf(explained, report));
        if (Object(report).overlay === true) client.send({ type: "error", err: overlayOf(explained) });
      });
      hot.on(WARNING_EVENT, (report: unknown, client: NormalizedHotChannelClient) => {
        const warning = receive(report, client);
        if (!warning) return;
        const explained = { ...explainError(warning, config.root), name: "Warning" };
        errors.printExplained(explained, idOf(explained, report));
        client.send(WARNING_EVENT, { text: [heading(explained), explained.location].filter(Boolean).join("\n") });
      });
    },
  };
}

/**
 * Returns what identifies an error of markup: everything but the values in its message. The time that a view has rendered
 * is another whenever the page is opened.
 */
function idOf({ name, message, location }: ExplainedError, report: unknown): { readonly id?: string } {
  if (location === "" || Object(report).source === undefined) return {};
  return { id: [name, location, message.replace(/"(?:[^"\\]|\\.)*"/g, '""')].join("\n") };
}

/** Returns whether a WebSocket is of a browser on this machine. The upgrade of the connection has checked its host. */
export function isLocal(client: NormalizedHotChannelClient): boolean {
  // Vite's client has the WebSocket, and that of the package ws has the connection; their types omit both.
  const { socket }: { readonly socket?: { readonly _socket?: unknown } } = Object(client);
  const { remoteAddress }: { readonly remoteAddress?: unknown } = Object(socket?._socket);
  return typeof remoteAddress === "string" && isThisMachine({ address: remoteAddress, host: "localhost" });
}

/**
 * Returns whether a module could not be loaded, by the wording of Chromium, Firefox and Safari. The server has printed why,
 * and has sent that to the overlay.
 */
function isLoadFailure({ message, cause }: BrowserError): boolean {
  const pattern =
    /^(?:Failed to fetch dynamically imported module|error loading dynamically imported module|Importing a module script failed)/;
  return pattern.test(message) || (cause !== undefined && isLoadFailure(cause));
}

/** Returns an error as Vite's overlay shows it. */
export function overlayOf(explained: ExplainedError): ErrorPayload["err"] {
  const { location, frame, stack } = explained;
  const [, file = "", line, column] = /^(.*):(\d+):(\d+)$/.exec(location) ?? [];
  return {
    message: heading(explained),
    stack: stack
      .split("\n")
      .filter((each) => /^\s*at /.test(each))
      .join("\n"),
    ...(location === "" ? {} : { loc: { file, line: Number(line), column: Number(column) } }),
    ...(frame === "" ? {} : { frame: `${frame}\n` }),
  };
}

/** The longest message, and the longest stack, in characters. The rest is cut off. */
const MAX_MESSAGE = 4_000;
const MAX_STACK = 20_000;

/** The maximum number of causes. */
const MAX_CAUSES = 4;

/** An error that a page has reported, with a stack that refers to the sources. */
interface BrowserError {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly cause?: BrowserError | undefined;
}

/** What maps the positions in a stack. */
export interface Sources {
  readonly root: string;
  readonly maps: Pick<ServedSourceMaps, "find" | "includes">;
  /** The folder of the files that are served as they are; empty without one. */
  readonly publicDir: string;
}

/**
 * Reads the report of an error that a page has sent: anything that is not of the expected type is left out, because any
 * script in the page can send one.
 */
export function readBrowserError(report: unknown, sources: Sources, depth = 0): BrowserError {
  const { name, message, stack, source, cause }: Readonly<Record<string, unknown>> = Object(report);
  const markup = markupFrame(source, sources);
  const isNested = typeof cause === "object" && cause !== null && depth < MAX_CAUSES;
  return {
    name: text(name, 100) || "Error",
    message: withJsonAdvice(text(message, MAX_MESSAGE)),
    stack: [...(markup ? [markup] : []), ...mapStack(text(stack, MAX_STACK), sources)].join("\n"),
    ...(isNested ? { cause: readBrowserError(cause, sources, depth + 1) } : {}),
  };
}

/** Adds the usual cause of JSON that begins with a tag, in the words of Chromium and Safari: the error page of an address. */
function withJsonAdvice(message: string): string {
  const isHtml =
    /^Unexpected token '<', "<(?:!doctype|html)\b.* is not valid JSON|^JSON Parse error: Unrecognized token '<'/is;
  return isHtml.test(message) ? `${message}\nThe response is HTML, not JSON: does the address exist?` : message;
}

function text(value: unknown, maxLength: number): string {
  return typeof value === "string" ? value.slice(0, maxLength) : "";
}

/** The longest line of a stack that is read, in characters. A message is part of the stack, and may have longer ones. */
const MAX_LINE = 2_000;

/** The position at the end of a frame of Chromium (`at fn (http://…/a.tsx:3:7)`), Firefox and Safari (`fn@http://…/a.tsx:3:7`). */
const POSITION = /https?:\/\/[^/\s]+(\/[^\s()]*):(\d+):(\d+)\)?$/;

/** Reads a frame; `undefined` for any other line. */
function readFrame(text: string) {
  const line = text.length > MAX_LINE ? "" : text.trim();
  const match = POSITION.exec(line);
  if (!match) return undefined;
  const [, path = "", row, column] = match;
  const fn = line
    .slice(0, match.index)
    .replace(/^at /, "")
    .replace(/[\s@(]+$/, "");
  return { fn, path, line: Number(row), column: Number(column) };
}

/** Returns the frames of the application, as Node writes them. */
function mapStack(stack: string, { maps, root, publicDir }: Sources): string[] {
  return stack.split("\n").flatMap((text) => {
    const frame = readFrame(text);
    if (!frame) return [];
    const { fn, path, line, column } = frame;
    const position = maps.find(path, line, column) ?? publicPosition(path, line, column, publicDir);
    if (!position?.file.startsWith(`${root}/`)) return [];
    const place = `${position.file}:${position.line}:${position.column}`;
    const name = fn.trim().replace(/^.* \[as constructor\]$/, ""); // Preact's name of a component's function
    return [name === "" ? `    at ${place}` : `    at ${name} (${place})`];
  });
}

/** A script in the public folder is served as it is, at its path. */
function publicPosition(path: string, line: number, column: number, publicDir: string): SourcePosition | undefined {
  const file = join(publicDir, path);
  const isScript = /\.m?js$/.test(path) && !path.startsWith("/__web/");
  if (publicDir === "" || !isScript || !file.startsWith(`${publicDir}/`)) return undefined;
  return namesServerOnlyUrl(path, publicDir) ? undefined : { file, line, column }; // it is not served either
}

/**
 * Returns a frame for the source of markup, which JSX's development runtime has passed. The file must be one that a
 * browser has loaded, because its lines are sent back.
 */
function markupFrame(source: unknown, { root, maps }: Sources): string | undefined {
  const { fileName, lineNumber, columnNumber }: Readonly<Record<string, unknown>> = Object(source);
  if (typeof fileName !== "string" || !Number.isInteger(lineNumber) || !Number.isInteger(columnNumber))
    return undefined;
  const file = fileName.startsWith("/") ? fileName : join(root, fileName);
  return maps.includes(file) ? `    at ${file}:${String(lineNumber)}:${String(columnNumber)}` : undefined;
}
