import type { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import {
  createLogger,
  type ErrorPayload,
  type HotPayload,
  type LogErrorOptions,
  type Logger,
  type NormalizedHotChannelClient,
  normalizePath,
  type Plugin,
  type ViteDevServer,
} from "vite";
import { isServerModule, namesServerOnlyUrl } from "../../../compile/index.ts";
import { type ErrorLog, explainError } from "../../errors/index.ts";
import { interceptMessages } from "../server/index.ts";
import { overlayOf } from "./browser-errors.ts";

/**
 * How long an error waits before it is sent. An editor saves several files one after the other: an error that another
 * file has already fixed is not shown.
 */
export const HOLD_MS = 150;

/**
 * Changes the errors that Vite sends to open pages, for its overlay: locations are those of the project, as editors read
 * them. Source text of server-only files is removed, because clients on other machines receive the errors too. An error
 * in a server module reaches pages when a view imports its stubs. The terminal and the error page show it in full.
 *
 * @param edits emits `all` for each edit
 */
export function explainOverlayErrors(edits: EventEmitter): Plugin {
  return {
    name: "tsweb:explain-overlay-errors",
    configureServer({ config, environments, ws }) {
      const sendErrors = holdErrors({ edits, ws });
      interceptMessages(environments.client.hot, (payload, send) => {
        if (payload.type !== "error") send(payload);
        else sendErrors({ ...payload, err: toShow(payload.err, config.root) }, send);
      });
    },
  };
}

/**
 * Returns a function that sends an error to the open pages, unless an edit follows. Without an open page, the error waits
 * for the next one, until the next edit. Vite itself would keep it longer, and show it over a page that is correct by then.
 */
function holdErrors({ edits, ws }: { edits: EventEmitter } & Pages): (payload: HotPayload, send: Send) => void {
  let drop = () => {};
  return (payload, send) => {
    drop(); // the overlay shows the last error
    const sendTo = (_data: unknown, client: NormalizedHotChannelClient) => {
      drop();
      client.send(payload);
    };
    const holding = setTimeout(() => {
      if (ws.clients.size === 0) return ws.on("vite:client:connect", sendTo);
      drop();
      send(payload);
    }, HOLD_MS);
    drop = () => {
      clearTimeout(holding);
      edits.off("all", drop);
      ws.off("vite:client:connect", sendTo);
    };
    edits.on("all", drop);
  };
}

/** The connections of open pages. */
interface Pages {
  readonly ws: Pick<ViteDevServer["ws"], "clients" | "on" | "off">;
}

/** Sends a message to all open pages. */
type Send = (payload: HotPayload) => void;

function toShow(error: ErrorPayload["err"], root: string): ErrorPayload["err"] {
  const redacted = redact(error, root);
  return redacted === error ? overlayOf(explainError(error, root)) : redacted;
}

/** Returns an error as it may be sent: without message, stack and source lines if it is in a server-only file. */
function redact(error: ErrorPayload["err"], root: string): ErrorPayload["err"] {
  const files = [error.id, error.loc?.file].filter((file) => file !== undefined).map(normalizePath);
  const isServerOnly = files.some(
    (file) => file.includes("tsweb-stub:") || isServerModule(file, root) || namesServerOnlyUrl(`/@fs/${file}`, root),
  );
  if (!isServerOnly) return error;
  return { message: "A server module has an error. The terminal of the development server shows it.", stack: "" };
}

/** The options of {@link logViteErrors}. */
interface LoggerOptions {
  readonly errors: ErrorLog;
  /** Loads the application, and prints why if it cannot be loaded. */
  readonly reload: () => Promise<unknown>;
}

/**
 * Prints the errors that Vite logs like all others: with the location as editors read it, and once. Vite logs an error of
 * a module for each request, with its own stack. If the project's Vite config creates its own environment,
 * Vite loads the application after an edit, and logs its own stack only: it is loaded once more for its error.
 */
export function logViteErrors(options: LoggerOptions): Plugin {
  return {
    name: "tsweb:log-vite-errors",
    config: ({ customLogger, logLevel }) => ({
      customLogger: withErrors(customLogger ?? createLogger(logLevel, { allowClearScreen: false }), options),
    }),
  };
}

function withErrors(logger: Logger, { errors, reload }: LoggerOptions): Logger {
  return {
    ...logger,
    // Vite assigns to it, and a copy of a getter would keep its first value.
    get hasWarned() {
      return logger.hasWarned;
    },
    set hasWarned(value) {
      logger.hasWarned = value;
    },
    error(message: string, options?: LogErrorOptions) {
      const error = options?.error;
      if (message.includes("An error happened during full reload")) {
        void reload();
        return;
      }
      if (isStyleSheetImport(message)) return; // the error of the style sheet follows
      if (isOfCompiledConfig(message)) return; // restartWithConfig() prints it with the lines of its source
      if (error && isOfModule(error)) errors.print(error);
      else logger.error(process.env.NO_COLOR ? stripVTControlCharacters(message) : message, options); // Rolldown ignores it
    },
  };
}

/** Returns whether a message contains what Vite inserts in a config, or the name of the file into which it compiles it. */
function isOfCompiledConfig(message: string): boolean {
  const text = stripVTControlCharacters(message);
  return text.includes("__vite_injected_original_") || /\.vite-temp\/vite\.config\./.test(text);
}

/** Returns whether a message is about an `@import` of a style sheet that Vite cannot resolve. */
function isStyleSheetImport(message: string): boolean {
  return stripVTControlCharacters(message).startsWith("Unable to resolve `@import ");
}

/** Returns whether an error is a mistake in a module. Others, such as one of the WebSocket server, are Vite's own. */
function isOfModule(error: object): boolean {
  return "loc" in error || ("id" in error && typeof error.id === "string") || "plugin" in error;
}

/**
 * Reports an invalid member of `"tsweb"` in package.json, when the server starts and after each edit of the file. Only
 * `tsweb build` uses these options, so the server continues. The same error is reported once until it is corrected.
 */
export function checkPackageOptions(root: string, log: (message: string) => void): Plugin {
  const file = normalizePath(join(root, "package.json"));
  let reported: string | undefined;
  const check = async () => {
    const problem = await findProblem(root, file);
    if (problem !== undefined && problem !== reported) log(`\n${problem}\ntsweb build fails until it is corrected.\n`);
    reported = problem;
  };
  return {
    name: "tsweb:check-package-options",
    async configureServer({ watcher }) {
      watcher.on("all", (_event, path) => {
        if (normalizePath(path) === file) void check();
      });
      await check();
    },
  };
}

async function findProblem(root: string, file: string): Promise<string | undefined> {
  if (!mayHaveOptions(file)) return undefined;
  const { packageOptionsProblem } = await import("../../build/index.ts"); // slows the start down
  return packageOptionsProblem(root);
}

/** Returns whether package.json has `"tsweb"` in any case, or cannot be read. */
function mayHaveOptions(file: string): boolean {
  try {
    return Object.keys(JSON.parse(readFileSync(file, "utf8"))).some((name) => name.toLowerCase() === "tsweb");
  } catch {
    return true;
  }
}
