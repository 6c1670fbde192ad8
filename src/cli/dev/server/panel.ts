import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { type NodeHandler, node } from "../../../adapters/index.ts";
import type { App } from "../../../app.ts";
import { DevelopmentPanel, PANEL_HOST } from "../../../panel/index.ts";
import { PANEL_PATH } from "../../../protocol/index.ts";
import { requireInternals } from "../../../server/index.ts";
import { type ErrorLog, explainError } from "../../errors/index.ts";
import { isForwarded, isThisMachine, respondWithText } from "./requests.ts";

/** The panel's application, which the build of the package has built. */
const PANEL_APP = new URL("../../../panel/app/app.mjs", import.meta.url);

/** The options of {@link servePanel}. */
export interface DevPanelOptions {
  readonly root: string;
  /** Returns the application as its files are now. */
  readonly loadApp: () => Promise<App>;
  readonly errors: ErrorLog;
}

/** The panel of a development server. */
export interface DevPanel {
  readonly panel: DevelopmentPanel;
  /** Passes requests for the panel to it, and all others to `next`. */
  handle(next: NodeHandler): NodeHandler;
}

/** Creates the panel of a development server. Its application is loaded at the first request. */
export function servePanel({ root, loadApp, errors }: DevPanelOptions): DevPanel {
  let loading: Promise<{ readonly handler: NodeHandler; readonly isOpen: () => boolean }> | undefined;
  let isOpen = () => false;
  const panel = new DevelopmentPanel({
    loadApp: async () => {
      const app = await loadApp();
      return { config: app.config, internals: requireInternals(app, "tsweb dev") };
    },
    explain: async (error) => {
      const { name, message, location, frame, stack } = explainError(error, root);
      return { type: name, message, location, frame, stack };
    },
    isOpen: () => isOpen(),
  });
  const load = async () => {
    Object.defineProperty(globalThis, Symbol.for(PANEL_HOST), { value: panel, configurable: true });
    const { default: app }: { default: App } = await import(PANEL_APP.href);
    const internals = requireInternals(app, "tsweb dev");
    return { handler: node(app), isOpen: () => internals.liveConnections().length > 0 };
  };
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    loading ??= load();
    const loaded = await loading;
    isOpen = loaded.isOpen;
    panel.opened();
    loaded.handler(request, response);
  };
  return {
    panel,
    handle: (next) => (request, response) => {
      if (!isPanelPath(request.url ?? "/")) return next(request, response);
      if (!mayUsePanel(request)) return refuse(request, response);
      respond(request, response).catch((error: unknown) => {
        loading = undefined;
        errors.print(error, "The panel could not be loaded");
        respondWithText(request, response, {
          status: 500,
          text: "The panel could not be loaded. The terminal shows why.\n",
        });
      });
    },
  };
}

/**
 * Returns the line about the panel in the output of `tsweb dev`. It is empty if the server listens on an address that is
 * not that of this machine alone: the panel refuses the requests that arrive there.
 */
export function panelLine(address: string): string {
  const isLocal = isThisMachine({ address: "127.0.0.1", host: new URL(address).host });
  return isLocal ? `  panel  ${address}${PANEL_PATH}\n` : "";
}

/** Returns whether a request target is one of the panel: its page, or what is below its own `/__web/`. */
export function isPanelPath(target: string): boolean {
  const [path = ""] = target.split("?", 1);
  return path === PANEL_PATH || path === `${PANEL_PATH}/` || path.startsWith(`${PANEL_PATH}/__web/`);
}

/**
 * Returns whether a request may use the panel, which shows requests and calls functions:
 *
 * - It comes from this machine and names it as its host, whatever `HOST` and `server.allowedHosts` are. This refuses
 *   other machines, and sites that point their own name at 127.0.0.1 (DNS rebinding).
 * - No proxy has forwarded it: a tunnel would make the panel public.
 * - It does not come from a page of another origin, apart from a link to the panel.
 *
 * When unsure, it returns `false`.
 *
 * @see https://www.w3.org/TR/fetch-metadata/
 */
export function mayUsePanel({
  headers,
  method,
  socket,
}: Pick<IncomingMessage, "headers" | "method" | "socket">): boolean {
  if (!isThisMachine({ address: socket.remoteAddress, host: headers.host })) return false;
  if (isForwarded((name) => headers[name])) return false;
  return !isFromOtherOrigin(headers) || (method === "GET" && isNavigation(headers));
}

function isFromOtherOrigin({ origin, host, "sec-fetch-site": site }: IncomingHttpHeaders): boolean {
  if (origin !== undefined && origin !== `http://${host}`) return true;
  return site !== undefined && site !== "same-origin" && site !== "none";
}

/** Returns whether a browser opens a page in a tab, not in a frame. Without this, no link could lead to the panel. */
function isNavigation({ origin, "sec-fetch-mode": mode, "sec-fetch-dest": dest }: IncomingHttpHeaders): boolean {
  return origin === undefined && mode === "navigate" && dest === "document";
}

function refuse(request: IncomingMessage, response: ServerResponse): void {
  const text =
    `The panel does not serve this request from ${request.socket.remoteAddress} for the host ` +
    `${JSON.stringify(request.headers.host ?? "")}. It is available on the same machine only: open ` +
    `http://localhost:${request.socket.localPort}${PANEL_PATH} there, without a proxy.\n`;
  respondWithText(request, response, { status: 403, text });
}
