import type { EventEmitter } from "node:events";
import { posix } from "node:path";
import type { HotPayload, ViteDevServer } from "vite";
import { type ErrorLog, type ExplainedError, explainError } from "../errors/index.ts";
import type { DevAppLoader } from "./app-loader.ts";
import { overlayOf } from "./browser-errors.ts";
import type { EditVersions } from "./edit-versions.ts";
import { HOLD_MS } from "./error-messages.ts";
import type { ServedSourceMaps } from "./source-maps.ts";

/** What {@link reloadAfterEdits} needs of the development server. */
export interface ReloadOptions extends LoadFailureOptions {
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
  const explained = explainError(error, root);
  const isPublic = isLoadedByBrowser(explained, { root, maps });
  const payload: HotPayload = isPublic
    ? { type: "error", err: overlayOf(explained) }
    : { type: "full-reload", path: "*" };
  const cancel = () => clearTimeout(holding);
  const holding = setTimeout(() => {
    edits.off("all", cancel);
    for (const client of vite.ws.clients) client.send(payload);
  }, HOLD_MS);
  edits.once("all", cancel);
}

/** Returns whether an error is in a module that a browser has loaded. */
export function isLoadedByBrowser(
  { location }: ExplainedError,
  { root, maps }: { readonly root: string; readonly maps: LoadFailureOptions["maps"] },
): boolean {
  const [, file] = /^(.*):\d+:\d+$/.exec(location) ?? [];
  return file !== undefined && maps.includes(posix.join(root, file));
}
