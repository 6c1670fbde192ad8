import { type Config, loadConfig } from "./config/index.ts";
import { FetchInboundRequest, toFetchResponse } from "./http/index.ts";
import { createConsoleLogger, createJsonLogger } from "./logging/index.ts";
import { type ManagedRateStore, openRateStore, type Rate } from "./rate-limit/index.ts";
import {
  type AppOptions,
  attachInternals,
  buildManifest,
  checkAppOptions,
  checkCalledFunctions,
  createSite,
  handleRequest,
  listModules,
  type RequestInfo,
  type Site,
  siteInDevelopment,
} from "./server/index.ts";

export type { AppOptions } from "./server/index.ts";

/**
 * An application: serves what its modules export, and nothing else.
 *
 * @throws Error for modules that cannot be served together, and for an unknown option
 * @throws ConfigError for an environment that cannot be used, such as production without a secret
 * @example export default new App({ title: "Accounts", modules: [accounts, pages] });
 */
export class App {
  /** The environment, parsed and checked. */
  readonly config: Config;
  /** The names of the server functions. */
  readonly functions: readonly string[];
  /** The paths of the pages. */
  readonly pages: readonly string[];
  /** The path below which the application is served; empty for the root. */
  readonly base: string;

  readonly #rate: ManagedRateStore | null;
  #site: Site;

  constructor(options: AppOptions) {
    checkAppOptions(options);
    const listing = listModules(options.modules);
    checkCalledFunctions(buildManifest?.stubs ?? [], listing);
    this.config = loadConfig(options.env ?? process.env, { built: buildManifest !== null, projectDir: process.cwd() });
    this.functions = [...listing.functions.keys()];
    this.pages = listing.pages.map((page) => page.path);
    this.base = options.base ?? "";
    const log = this.config.production ? createJsonLogger() : createConsoleLogger();
    const rate = options.rate ?? DEFAULT_RATE;
    this.#rate = rate === false ? null : openRateStore(rate, { busUrl: this.config.busUrl, log });
    this.#site = createSite(options, { config: this.config, listing, rate: this.#rate, log });
    attachInternals(this, {
      log,
      inspection: this.#site.inspection,
      handle: (inbound) => handleRequest(inbound, this.#site),
      onMount: () => this.#warnUnlessBuilt(),
      setDevelopment: (development) => {
        this.#site.live.setDevelopment();
        this.#site = siteInDevelopment(this.#site, options, development);
      },
    });
    this.#site.live.register(); // last, so that an application whose constructor throws is not found by publish()
  }

  /**
   * Handles a Fetch `Request`. Never rejects.
   *
   * Can be passed on without its object: `serve({ fetch: app.fetch })`.
   */
  readonly fetch = async (request: Request, info: RequestInfo = {}): Promise<Response> =>
    toFetchResponse(await handleRequest(new FetchInboundRequest(request, info.address), this.#site));

  /**
   * Connects to what processes share, before the first request; otherwise the first call does. When Redis is
   * unreachable, it logs that and retries.
   *
   * @throws ConfigError when what `WEB_BUS_URL` names cannot be used at all
   */
  async start(): Promise<void> {
    await this.#rate?.start();
  }

  /**
   * Publishes a message to the pages of this application. Use it outside of a request, when the process has several
   * applications; the contract is that of the function `publish`.
   *
   * @param name the channel: 1 to 128 bytes, no control characters
   * @param data anything that a server function may return, at most 64 KiB of JSON
   * @throws TypeError for an invalid name
   * @throws SerializeError for data that cannot be serialised as JSON
   * @throws RangeError for a message that is too large
   * @throws Error while the bus is unreachable: then the message may or may not be delivered, at most once
   * @see docs/protocol.md 10.1
   */
  async publish(name: string, data: unknown): Promise<void> {
    await this.#site.live.publish(name, data);
  }

  /** Closes the connections to what processes share. To be called when no request is in flight any more. */
  async close(): Promise<void> {
    await this.#site.live.close();
    await this.#rate?.close();
  }

  /**
   * Makes `/readyz` report to load balancers that this process is about to stop, and ends live connections, so that
   * browsers connect to another process.
   */
  drain(): void {
    this.#site = { ...this.#site, draining: true };
    this.#site.live.drain();
  }

  #warnUnlessBuilt(): void {
    const { log, pages } = this.#site;
    if (this.pages.length === 0 || pages.assets) return;
    log.warn(
      {},
      "This application was not built: its pages have no scripts and no style sheets. Run tsweb build, and mount dist/app.mjs instead.",
    );
  }
}

const DEFAULT_RATE: Rate = { calls: 120, seconds: 60 };
