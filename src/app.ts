import { built } from "./built.ts";
import { type Config, loadConfig } from "./config.ts";
import {
  belowBase,
  clientAddress,
  complete,
  isUsablePath,
  jsonReply,
  PRIVATE,
  type Outgoing,
  Refusal,
  type Reply,
  RequestContext,
  refuseDeclaredTooLarge,
  requestId,
  runInContext,
  type SecurityLines,
  securityHeaders,
  textReply,
  toResponse,
  traceParent,
} from "./http/index.ts";
import { INSPECTION, type Inspection } from "./inspection.ts";
import { consoleLog, jsonLog, type Log } from "./log.ts";
import { manifestAssets } from "./manifest.ts";
import { type Called, checkCalled, listModules, type Module } from "./modules.ts";
import { openapi } from "./openapi/index.ts";
import {
  type Assets,
  answerNotFound,
  answerPage,
  answerRoute,
  DefaultError,
  type ErrorPageProps,
  type Layout,
  type Markup,
  type PageSettings,
} from "./pages/index.ts";
import { type OpenRateStore, openRate, type Rate } from "./rate/index.ts";
import { createAppRouter, type Router } from "./router.ts";
import { answerCall, type CallSettings, checkSeconds } from "./rpc/index.ts";
import { sessionCookieName } from "./session/index.ts";
import { type StaticFiles, staticFiles } from "./static.ts";

/** What an application is made of. */
export interface AppOptions {
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
  /** The environment to be configured from; `process.env` unless said. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** What the host of an application knows of a request beside the request. */
export interface RequestInfo {
  /** The address of the connection's other end; proxies are seen through as `WEB_TRUST_PROXY` says. */
  readonly address?: string;
}

/** What the development server puts in the place of what a build would have made. */
export interface Development {
  /** The server functions that the browser's code has been seen to call. */
  readonly called: readonly Called[];
  readonly assets: Assets;
  readonly showError: (error: unknown, id: string) => Promise<string>;
}

/**
 * An application: what its modules export is served, and nothing else.
 *
 * @throws Error for modules that cannot be served together
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

  readonly #base: string;
  readonly #log: Log;
  readonly #rate: OpenRateStore | null;
  #calls: CallSettings;
  readonly #router: Router;
  readonly #files: StaticFiles | null;
  #settings: PageSettings;
  #security: SecurityLines;
  #draining = false;

  constructor(options: AppOptions) {
    const { functions, pages, routes } = listModules(options.modules);
    checkCalled(built?.stubs ?? [], { functions });
    this.config = loadConfig(options.env ?? process.env, { built: built !== null, projectDir: process.cwd() });
    this.functions = [...functions.keys()];
    this.pages = pages.map((page) => page.path);
    this.#base = checkBase(options.base ?? "");
    this[INSPECTION] = {
      title: options.title ?? "",
      base: this.#base,
      functions: [...functions.values()],
      pages,
      routes,
      sessionCookie: sessionCookieName(this.config.cookieSecure),
      csrf: this.config.csrfSecret !== undefined,
    };
    this.#log = this.config.production ? jsonLog() : consoleLog();
    checkSeconds(options.rpc_timeout, "new App");
    const rate = options.rate ?? DEFAULT_RATE;
    this.#rate = rate === false ? null : openRate(rate, { busUrl: this.config.busUrl, log: this.#log });
    this.#calls = {
      functions,
      log: this.#log,
      rate: this.#rate,
      rpc_timeout: options.rpc_timeout,
    };
    this.#router = createAppRouter(pages, routes);
    this.#files = built && staticFiles(built.files);
    this.#security = securityLines(this.config, false);
    this.#settings = {
      title: options.title ?? "",
      lang: options.lang ?? "en",
      base: this.#base,
      layout: options.layout ?? null,
      error: options.error ?? DefaultError,
      development: false,
      log: this.#log,
      assets: built && manifestAssets(built),
    };
  }

  /**
   * Answers a request: the whole of the application, by the Fetch standard. It never rejects.
   *
   * A method that can be passed on its own: `serve({ fetch: app.fetch })`.
   */
  readonly fetch = async (request: Request, info: RequestInfo = {}): Promise<Response> =>
    toResponse(await this.answer(request, info));

  /**
   * Answers a request in the form that adapters write: {@link fetch} before its `Response` is made,
   * which on Node costs more than all the rest. It never rejects.
   *
   * @internal
   */
  answer(request: Request, info: RequestInfo = {}): Promise<Outgoing | Response> {
    const context = this.#open(request, info);
    return runInContext(context, () => this.#answer(context));
  }

  /**
   * Takes over from the build in development: where assets are, and how errors are shown.
   *
   * @throws Error when the browser's code calls what is not served
   */
  develop({ assets, called, showError }: Development): void {
    checkCalled(called, this.#calls);
    this.#settings = { ...this.#settings, assets, showError, development: true };
    this.#calls = { ...this.#calls, rate: null };
    this.#security = securityLines(this.config, true);
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
    await this.#rate?.close();
  }

  /** Tells load balancers, by `/readyz`, that this process is about to stop. */
  drain(): void {
    this.#draining = true;
  }

  get log(): Log {
    return this.#log;
  }

  /** The path it is served below; empty when it has the site to itself. */
  get base(): string {
    return this.#base;
  }

  #open(request: Request, { address }: RequestInfo): RequestContext {
    const { headers } = request;
    // Our adapter for Node has parsed the address already.
    const { _url, ip } = request as Request & { readonly _url?: URL; readonly ip?: string };
    const peer = address ?? ip ?? "";
    return new RequestContext({
      request,
      url: _url ?? new URL(request.url),
      id: requestId(headers.get("x-request-id")),
      traceparent: traceParent(headers.get("traceparent")),
      address: clientAddress(peer, headers.get("x-forwarded-for"), this.config.trustProxy),
      config: this.config,
    });
  }

  async #answer(context: RequestContext): Promise<Outgoing | Response> {
    try {
      return complete(await this.#reply(context), context, this.#security);
    } catch (error) {
      // A refusal, or an answer that cannot be sent any more: another server's whose body a route has read.
      return complete(this.#refusal(context, error), context, this.#security);
    }
  }

  #reply(context: RequestContext): Reply | Promise<Reply | Response> {
    const { pathname } = context.url;
    if (!isUsablePath(pathname)) return textReply(400, "Bad request: this path cannot be read.\n");
    const path = belowBase(pathname, this.#base);
    if (path?.startsWith("/__web/rpc/")) return answerCall(context, path.slice("/__web/rpc/".length), this.#calls);
    refuseDeclaredTooLarge(context.raw.headers);
    return this.#answerPath(context, path);
  }

  #refusal(context: RequestContext, error: unknown): Reply {
    if (error instanceof Refusal) return textReply(error.status, `${error.message}\n`, error.headers);
    this.#log.error({ id: context.id, err: error }, "A request failed");
    return textReply(500, `Something went wrong on the server. Request ${context.id}\n`);
  }

  async #answerPath(context: RequestContext, path: string | null): Promise<Reply | Response> {
    if (path === null) return answerNotFound(context, this.#settings);
    const file = await this.#files?.answer(context.raw, path);
    if (file) return file;
    const found = this.#router(context.raw.method, path);
    switch (found?.kind) {
      case undefined:
        return this.#answerProbe(path) ?? answerNotFound(context, this.#settings);
      case "method":
        return textReply(405, `This address answers ${found.allow}.\n`, { allow: found.allow });
      case "route":
        return answerRoute(context, found.route, found.params, this.#log);
      case "page":
        if (path !== "/" && path.endsWith("/")) return oneAddress(context.url);
        return answerPage(context, found.page, found.params, this.#settings);
    }
  }

  #answerProbe(path: string): Reply | null {
    if (path === "/healthz") return jsonReply(200, '{"status":"ok"}');
    if (path === "/readyz") return jsonReply(this.#draining ? 503 : 200, `{"ready":${!this.#draining}}`);
    // In development alone: what there is to be called is nobody's business without a need.
    if (path === "/__web/openapi.json" && this.#settings.development) {
      return jsonReply(200, JSON.stringify(openapi(this[INSPECTION])));
    }
    return null;
  }
}

const DEFAULT_RATE: Rate = { calls: 120, seconds: 60 };

function securityLines(config: Config, development: boolean): SecurityLines {
  return Object.entries(securityHeaders({ development, secure: config.cookieSecure }));
}

function checkBase(base: string): string {
  if (base === "" || /^(\/[A-Za-z0-9._~-]+)+$/.test(base)) return base;
  throw new Error(
    `new App: base must be a path as "/shop", without a slash at its end; it is ${JSON.stringify(base)}.`,
  );
}

/** A page has one address: with a slash at its end, its relative links would point elsewhere. */
function oneAddress({ pathname, search }: URL): Reply {
  return { status: 308, headers: { location: pathname.replace(/\/+$/, "") + search, ...PRIVATE }, body: null };
}
