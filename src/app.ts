import { type Config, checkKnown, loadConfig } from "./config/index.ts";
import {
  checkSecurity,
  FetchInbound,
  type Inbound,
  nativeResponse,
  type Outgoing,
  type SecurityOptions,
  securityLines,
  toResponse,
} from "./http/index.ts";
import { configureBus, Live } from "./live/index.ts";
import { consoleLog, jsonLog, type Log } from "./logging/index.ts";
import { type Assets, DefaultError, type ErrorPageProps, type Layout } from "./pages/index.ts";
import type { Markup } from "./protocol/index.ts";
import { holding, type OpenRateStore, openRate, type Rate } from "./rate-limit/index.ts";
import { checkSeconds, checksOf } from "./rpc/index.ts";
import {
  answerRequest,
  built,
  type Called,
  checkCalled,
  createAppRouter,
  INSPECTION,
  type Inspection,
  type Listing,
  listModules,
  type Module,
  manifestAssets,
  type RequestInfo,
  type Site,
  staticFiles,
} from "./server/index.ts";
import { sessionCookieName } from "./session/index.ts";

/** What an application is made of; `policy` and `headers` change what its answers say for security. */
export interface AppOptions extends SecurityOptions {
  /** The modules that are served, whole: `import * as accounts from "./accounts.server.ts"`. */
  readonly modules: readonly Module[];
  /** The application's name: the title of pages without one, and after the title of the others. */
  readonly title?: string;
  /** The language of its pages, as in `<html lang>`; `en` unless said. */
  readonly lang?: string;
  /** The path it is served below, as `/shop`; none unless said. */
  readonly base?: string;
  /** What stands around the markup of every page. */
  readonly layout?: Layout;
  /** The page for what cannot be shown (401, 403, 404, 500); a plain one unless said. */
  readonly error?: (props: ErrorPageProps) => Markup;
  /** How many calls a client may make: 120 in 60 seconds unless said, `false` for any number. */
  readonly rate?: Rate | false;
  /** How long a call may take, in seconds; any time unless said here or by the function. */
  readonly rpc_timeout?: number;
  /**
   * Whether calls are held to more than `int`, `float`, `number` and `boolean`: also to text, literals, and
   * the arrays, records and objects made of these. Off unless said.
   */
  readonly strict?: boolean;
  /** The environment to be configured from; `process.env` unless said. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const OPTIONS: Readonly<Record<keyof AppOptions, true>> = {
  modules: true,
  title: true,
  lang: true,
  base: true,
  layout: true,
  error: true,
  rate: true,
  rpc_timeout: true,
  strict: true,
  policy: true,
  headers: true,
  env: true,
};

/** What the development server puts in the place of what a build would have made. */
export interface Development {
  /** The server functions that the browser's code has been seen to call. */
  readonly called: readonly Called[];
  readonly assets: Assets;
  readonly showError: (error: unknown, id: string) => Promise<string>;
  /** The version of the project, for its OpenAPI document. */
  readonly version?: string | undefined;
}

/**
 * An application: what its modules export is served, and nothing else.
 *
 * @throws Error for modules that cannot be served together, and for what is no option
 * @throws ConfigError for an environment that cannot be used: production without a secret, say
 * @example export default new App({ title: "Accounts", modules: [accounts, pages] });
 */
export class App {
  /** The environment, read and checked. */
  readonly config: Config;
  /** The names under which functions are served. */
  readonly functions: readonly string[];
  /** The paths of the pages. */
  readonly pages: readonly string[];

  /** What `inspect(app)` gives. */
  readonly [INSPECTION]: Inspection;

  readonly #rate: OpenRateStore | null;
  readonly #security: SecurityOptions;
  readonly #releaseBus: () => Promise<void>;
  #site: Site;

  constructor(options: AppOptions) {
    checkKnown(options, OPTIONS, "new App");
    const listing = listModules(options.modules);
    checkCalled(built?.stubs ?? [], listing);
    checkSeconds(options.rpc_timeout, "new App");
    checkSecurity(options, "new App");
    this.#security = options;
    this.config = loadConfig(options.env ?? process.env, { built: built !== null, projectDir: process.cwd() });
    this.functions = [...listing.functions.keys()];
    this.pages = listing.pages.map((page) => page.path);
    const log = this.config.production ? jsonLog() : consoleLog();
    const rate = options.rate ?? DEFAULT_RATE;
    this.#rate = rate === false ? null : openRate(rate, { busUrl: this.config.busUrl, log });
    this.#releaseBus = configureBus({ busUrl: this.config.busUrl, log });
    this.#site = siteOf(options, { config: this.config, listing, rate: this.#rate, log });
    this[INSPECTION] = this.#site.inspection;
  }

  /**
   * Answers a request: the whole of the application, by the Fetch standard. It never rejects.
   *
   * A method that can be passed on its own: `serve({ fetch: app.fetch })`.
   */
  readonly fetch = async (request: Request, info: RequestInfo = {}): Promise<Response> =>
    nativeResponse(toResponse(await this.answer(new FetchInbound(request, info.address))));

  /**
   * Answers a request in the form that adapters write: {@link fetch} before its `Response` is made,
   * which on Node costs more than all the rest, and at once where nothing has to be waited for. It never
   * throws and never rejects.
   *
   * @internal
   */
  answer(inbound: Inbound): Outgoing | Response | Promise<Outgoing | Response> {
    return answerRequest(inbound, this.#site);
  }

  /**
   * Is told by what mounts it in a server. What its visitors would look for in vain is said in the log.
   *
   * @internal
   */
  mounted(): void {
    if (this.pages.length === 0 || this.#site.pages.assets) return;
    this.log.warn(
      {},
      "This application was not built, so its pages come without scripts and style sheets. Run tsweb build, and mount dist/app.mjs instead.",
    );
  }

  /**
   * Takes over from the build in development: where assets are, and how errors are shown.
   *
   * @throws Error when the browser's code calls what is not served
   */
  develop({ assets, called, showError, version }: Development): void {
    const { calls, pages } = this.#site;
    checkCalled(called, calls);
    this.#site = {
      ...this.#site,
      pages: { ...pages, assets, showError, development: true },
      calls: { ...calls, rate: null },
      version,
      ...securityOf(this.config, this.#security, { pages: this.#site.inspection.pages, development: true }),
    };
  }

  /**
   * Connects to what processes share, before the first request; without, the first call does.
   * With Redis away it comes back all the same, and says so in the log.
   *
   * @throws ConfigError when what `WEB_BUS_URL` names cannot be used at all
   */
  async start(): Promise<void> {
    await this.#rate?.start();
  }

  /** Ends the connections to what processes share, once no request is in flight any more. */
  async close(): Promise<void> {
    this.#site.live.close();
    await this.#releaseBus();
    await this.#rate?.close();
  }

  /**
   * Tells load balancers, by `/readyz`, that this process is about to stop, and ends live connections, so
   * that browsers go to another one.
   */
  drain(): void {
    this.#site = { ...this.#site, draining: true };
    this.#site.live.drain();
  }

  get log(): Log {
    return this.#site.log;
  }

  /** The path it is served below; empty when it has the site to itself. */
  get base(): string {
    return this.#site.base;
  }
}

const DEFAULT_RATE: Rate = { calls: 120, seconds: 60 };

/** What an application has beside its options once it has read them. */
interface Parts {
  readonly config: Config;
  readonly listing: Listing;
  readonly rate: OpenRateStore | null;
  readonly log: Log;
}

function siteOf(options: AppOptions, { config, listing, rate, log }: Parts): Site {
  const { functions, pages, routes } = listing;
  const base = checkBase(options.base ?? "");
  const title = options.title ?? "";
  const open = holding(config.maxStreamsPerClient);
  return {
    config,
    log,
    base,
    calls: {
      functions,
      log,
      rate,
      rpc_timeout: options.rpc_timeout,
      open,
      strict: options.strict === true ? checksOf(functions) : null,
    },
    live: new Live(log, open),
    pages: {
      title,
      lang: options.lang ?? "en",
      base,
      layout: options.layout ?? null,
      error: options.error ?? DefaultError,
      development: false,
      log,
      assets: built && manifestAssets(built),
    },
    router: createAppRouter(pages, routes),
    files: built && staticFiles(built.files),
    ...securityOf(config, options, { pages, development: false }),
    inspection: {
      title,
      base,
      strict: options.strict === true,
      functions: [...functions.values()],
      pages,
      routes,
      sessionCookie: sessionCookieName(config.cookieSecure),
      csrf: config.csrfSecret !== undefined,
    },
    draining: false,
  };
}

/** Works out the security headers: those of the application, and those of pages that say something of their own. */
function securityOf(
  { cookieSecure: secure }: Config,
  said: SecurityOptions,
  { pages, development }: { pages: Listing["pages"]; development: boolean },
): Pick<Site, "security" | "pageSecurity"> {
  const facts = { development, secure };
  const own = pages.filter(({ options }) => options.policy || options.headers);
  return {
    security: securityLines(facts, said),
    pageSecurity: new Map(own.map((page) => [page, securityLines(facts, said, page.options)])),
  };
}

function checkBase(base: string): string {
  if (base === "" || /^(\/[A-Za-z0-9._~-]+)+$/.test(base)) return base;
  throw new Error(
    `new App: base must be a path as "/shop", without a slash at its end; it is ${JSON.stringify(base)}.`,
  );
}
