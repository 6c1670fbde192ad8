import type { ErrorPayload, NormalizedHotChannelClient, Plugin } from "vite";
import type { ErrorLog } from "../errors/index.ts";
import { type ExplainedError, explainError, heading } from "../errors/index.ts";
import { type BrowserError, readBrowserError, type Sources } from "./browser-report.ts";
import { ERROR_EVENT, WARNING_EVENT } from "./page-events.ts";
import { isThisMachine } from "./requests.ts";
import type { ServedSourceMaps } from "./source-maps.ts";

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
