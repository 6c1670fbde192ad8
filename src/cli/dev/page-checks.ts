import type { NormalizedHotChannelClient, Plugin, ViteDevServer } from "vite";
import type { ExplainedError } from "../errors/index.ts";
import { isLocal, overlayOf } from "./browser-errors.ts";
import { isLoadedByBrowser } from "./load-failures.ts";
import { PAGE_CHECK_EVENT } from "./page-events.ts";
import type { ServedSourceMaps } from "./source-maps.ts";

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
    else if (isLoadedByBrowser(error, { root, maps })) client.send({ type: "error", err: overlayOf(error) });
    else client.send({ type: "full-reload", path: "*" });
  }
}
