import type { EventEmitter } from "node:events";
import { posix } from "node:path";
import type { HotPayload, NormalizedHotChannelClient, Plugin, ViteDevServer } from "vite";
import { escapeHtml } from "../../../pages/index.ts";
import { PAGE_CHECK_EVENT } from "../../../protocol/index.ts";
import { type ErrorLog, type ExplainedError, explainError } from "../../errors/index.ts";
import { type DevAppLoader, type EditVersions, ERROR_PAGE_SCRIPT, type ServedSourceMaps } from "../server/index.ts";
import { isLocal, overlayOf } from "./browser-errors.ts";
import { HOLD_MS } from "./error-messages.ts";

/** The number of failed requests that are kept: pages report their failure at once. */
const MAX_FAILURES = 50;

/** A page that could not be rendered. */
export interface FailedPage {
  readonly error: ExplainedError;
  /** The version of the files when the request arrived. */
  readonly edits: string;
}

/** The options of {@link PageChecks}. */
export interface PageCheckOptions {
  readonly maps: Pick<ServedSourceMaps, "includes">;
  /** Returns the version of the files. */
  readonly currentEdits: () => string;
}

/**
 * Shows an open page why the server cannot render it any more. After an edit of a view, which updates the page in place,
 * the page requests itself in the background, and reports a failure by the id of the request.
 *
 * As for an application that cannot be loaded ({@link showLoadFailure}), an error in a module that a browser has loaded is
 * shown in the overlay, and the page keeps its state. Otherwise the page is reloaded, and shows the error page.
 */
export class PageChecks {
  readonly #options: PageCheckOptions;
  readonly #failures = new Map<string, FailedPage>();

  constructor(options: PageCheckOptions) {
    this.#options = options;
  }

  /** Stores why a page could not be rendered. @param id the id of the request */
  record(id: string, failure: FailedPage): void {
    this.#failures.delete(id);
    this.#failures.set(id, failure);
    if (this.#failures.size > MAX_FAILURES) this.#failures.delete(this.#failures.keys().next().value ?? "");
  }

  plugin(): Plugin {
    return {
      name: "tsweb:page-checks",
      configureServer: ({ environments, config }: ViteDevServer) => {
        environments.client.hot.on(PAGE_CHECK_EVENT, (report: unknown, client: NormalizedHotChannelClient) => {
          // Other machines do not receive source lines.
          if (isLocal(client)) this.#show(Object(report).id, client, config.root);
        });
      },
    };
  }

  #show(id: unknown, client: NormalizedHotChannelClient, root: string): void {
    const failure = this.#failures.get(String(id));
    if (!failure) return; // not rendered by this server
    const { error, edits } = failure;
    const { maps, currentEdits } = this.#options;
    if (edits !== currentEdits())
      client.send(PAGE_CHECK_EVENT); // a later edit may have fixed it
    else client.send(messageAbout(error, { root, maps }));
  }
}

/** What {@link reloadAfterEdits} needs of the development server. */
interface ReloadOptions extends LoadFailureOptions {
  readonly vite: ViteDevServer;
  readonly errors: Pick<ErrorLog, "print">;
  readonly versions: Pick<EditVersions, "count">;
}

/**
 * Returns a function that loads the application after an edit, and resolves with whether that succeeded. Otherwise, it prints
 * the error, and shows it in open pages.
 */
export function reloadAfterEdits(
  loader: Pick<DevAppLoader, "load">,
  { vite, errors, versions, ...options }: ReloadOptions,
): () => Promise<boolean> {
  return async () => {
    const { count } = versions;
    try {
      await loader.load();
      return true;
    } catch (error) {
      errors.print(error);
      if (versions.count === count) showLoadFailure(vite, error, options); // a later edit may have fixed it
      return false;
    }
  };
}

/** What {@link showLoadFailure} needs of the development server. */
interface LoadFailureOptions {
  /** Emits `all` for each edit. */
  readonly edits: EventEmitter;
  readonly maps: Pick<ServedSourceMaps, "includes">;
}

/**
 * Shows in the open pages that the application could not be loaded after an edit, unless another edit follows at once. An
 * edit of a view replaces it in open pages without loading the application.
 *
 * An error in a module that a browser has loaded is shown in the overlay, and the page keeps its state. Otherwise the
 * pages are reloaded, and respond with the error page: other machines receive the overlay too, and must not receive the
 * source of server modules.
 */
function showLoadFailure(vite: ViteDevServer, error: unknown, { edits, maps }: LoadFailureOptions): void {
  const { root } = vite.config;
  const payload = messageAbout(explainError(error, root), { root, maps });
  const cancel = () => clearTimeout(holding);
  const holding = setTimeout(() => {
    edits.off("all", cancel);
    for (const client of vite.ws.clients) client.send(payload);
  }, HOLD_MS);
  edits.once("all", cancel);
}

/** Returns what is sent to a page about an error: the overlay only for one in a module that a browser has loaded. */
function messageAbout(
  error: ExplainedError,
  { root, maps }: { readonly root: string; readonly maps: LoadFailureOptions["maps"] },
): HotPayload {
  const [, file] = /^(.*):\d+:\d+$/.exec(error.location) ?? [];
  const isPublic = file !== undefined && maps.includes(posix.join(root, file));
  return isPublic ? { type: "error", err: overlayOf(error) } : { type: "full-reload", path: "*" };
}

/** What the page of an error needs besides the error. */
export interface ErrorPageOptions {
  /** The id of the request. */
  readonly id: string;
  /** The nonce of the page's styles and its script. */
  readonly nonce: string;
  /** The version of the files when the request arrived. */
  readonly edits: string;
}

/**
 * Renders the page that shows an error to the developer: message, source lines, stack, and a script that reloads the
 * page after an edit.
 */
export function errorPage(
  { name, message, stack, location, frame }: ExplainedError,
  { id, ...page }: ErrorPageOptions,
): string {
  return document(
    name,
    `<p>${escapeHtml(name)}</p><h1>${escapeHtml(message)}</h1>` +
      (location ? `<p>${escapeHtml(location)}</p>` : "") +
      (frame ? `<pre>${escapeHtml(frame)}</pre>` : "") +
      `<h2>Stack</h2><pre>${escapeHtml(stack)}</pre>` +
      `<p>Request ${escapeHtml(id)}. This page reloads when the error is fixed.</p>`,
    page,
  );
}

/** Renders the page that clients on other machines see in place of an error. */
export function remoteErrorPage({ id, ...page }: ErrorPageOptions): string {
  return document(
    "Error",
    "<h1>Something went wrong on the server</h1>" +
      `<p>The terminal of the development server shows the error of request ${escapeHtml(id)}. ` +
      "This page reloads after an edit.</p>",
    page,
  );
}

function document(title: string, main: string, { nonce, edits }: Omit<ErrorPageOptions, "id">): string {
  return (
    `<!doctype html><html lang="en" data-edits="${escapeHtml(edits)}"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<style nonce="${nonce}">${STYLE}</style>` +
    `<script type="module" src="${ERROR_PAGE_SCRIPT}" nonce="${nonce}"></script></head><body><main>` +
    `${main}</main></body></html>`
  );
}

const STYLE =
  ":root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}main{max-width:60rem;margin:3rem auto;padding:0 1rem}" +
  "h1{font-size:1.4rem;border-left:4px solid #d33;padding-left:1rem;white-space:pre-wrap}h2{font-size:1rem}" +
  "pre{overflow:auto;padding:1rem;border:1px solid #8884;border-radius:6px;font-size:.875rem}";
