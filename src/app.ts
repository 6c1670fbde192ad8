import { openRateStore } from "./backends/index.ts";
import { type Config, loadConfig, unreportedMisspellings } from "./config/index.ts";
import { currentContext, type InboundRequest, traceIdOf } from "./http/index.ts";
import { addStore, callCounter, createLimit, type Limit, removeStore, setDevelopmentStore } from "./limits/index.ts";
import {
  type ClosableAppLog,
  type ConsoleLogger,
  createAppLog,
  createConsoleLogger,
  createJsonLogger,
  droppedLogLines,
  isPublishFailure,
  type Logger,
  wrapLogger,
} from "./logging/index.ts";
import {
  createAccessLog,
  ErrorHook,
  Metrics,
  type MetricsEndpoint,
  type RequestListener,
  reportOnce,
  Tracing,
} from "./observe/index.ts";
import type { PublishArguments } from "./protocol/index.ts";
import type { ManagedRateStore } from "./rate-limit/index.ts";
import {
  type AppInternals,
  type AppOptions,
  addressOf,
  attachInternals,
  buildManifest,
  checkAppOptions,
  checkCalledFunctions,
  createSite,
  createStartHook,
  type Development,
  handleFetch,
  handleRequest,
  hasSharedBus,
  type LastWork,
  listModules,
  logUnsent,
  type RequestInfo,
  renderStaticPages,
  requestTarget,
  runLastWork,
  type Site,
  siteInDevelopment,
} from "./server/index.ts";
import { type RevokedUser, subjectOf } from "./session/index.ts";

export type { AppOptions } from "./server/index.ts";

/**
 * An application. It serves the server functions, pages and routes that its modules export, and nothing else.
 *
 * @param options see {@link AppOptions}; `modules` is required
 * @throws TypeError for an unknown option
 * @throws RangeError if `rate` or `rpc_timeout` is out of range
 * @throws Error for modules that cannot be served together, and for an invalid `base`, `policy` or `headers`
 * @throws ConfigError that lists all invalid environment variables, for example a missing secret in production
 * @example export default new App({ title: "Accounts", modules: [accounts, pages] });
 */
export class App {
  /** The configuration, read from the environment once. */
  readonly config: Config;
  /** The names of the server functions. */
  readonly functions: readonly string[];
  /** The paths of the pages. */
  readonly pages: readonly string[];
  /** The path below which the application is served; empty for the root. */
  readonly base: string;

  // In the order in which they are created. Each uses the later ones only once the application exists.
  readonly #metrics: Metrics | undefined;
  readonly #logging: AppLogging;
  readonly #rate: ManagedRateStore;
  /** Whether calls are counted. `limit` may count in any application: it connects on first use. */
  readonly #countsCalls: boolean;
  #site: Site;
  readonly #tracing: Tracing;
  readonly #hooks: AppHooks;
  #closing: Promise<void> | undefined;

  constructor(options: AppOptions) {
    checkAppOptions(options);
    const listing = listModules(options.modules);
    checkCalledFunctions(buildManifest?.stubs ?? [], listing);
    const configOptions = {
      built: buildManifest !== null,
      projectDir: process.cwd(),
      hasSharedBus: hasSharedBus(),
      sessionCookie: options.session?.cookie,
    };
    const env = options.env ?? process.env;
    this.config = loadConfig(env, configOptions);
    this.functions = [...listing.functions.keys()];
    this.pages = listing.pages.map((page) => page.path);
    this.base = options.base ?? "";
    this.#metrics = this.#createMetrics();
    this.#logging = this.#createLogging(options);
    const { log } = this.#logging;
    for (const { variable, problem, fix } of unreportedMisspellings(env)) {
      log.warn({ variable }, `${variable} ${problem} ${fix}`);
    }
    this.#countsCalls = options.rate !== false || [...listing.functions.values()].some(({ limits }) => limits);
    this.#rate = openRateStore({ redis: () => this.#site.live.bus.redis, log });
    this.#site = createSite(options, {
      config: this.config,
      listing,
      limits: callCounter(this.#rate, options.rate),
      rateStore: this.#rate,
      log,
      listeners: this.#createListeners(),
      metrics: this.#metricsEndpoint(),
    });
    this.#tracing = new Tracing({
      log,
      addListener: (listener) => this.#site.listeners.add(listener),
      observeBus: (observe) => this.#site.live.observeBus(observe),
    });
    this.#hooks = this.#createHooks(options);
    attachInternals(this, this.#createInternals(options));
    addStore(this.#rate);
    this.#site.live.register(this); // last, so that an application whose constructor throws is not found by publish()
  }

  /**
   * Handles a Fetch `Request` and resolves with its response. Never rejects: an unexpected error is logged and becomes a
   * response with status 500. It is bound to the application.
   *
   * @param info the client's address, which rate limits count by. Without it, all clients share one limit.
   * @see docs/hosts.md for the call in each host
   */
  readonly fetch = (request: Request, info?: RequestInfo): Promise<Response> => handleFetch(request, info, this.#site);

  /**
   * Counts as the function `limit`, in this application. Use it outside a request if the process has several applications. It is
   * bound to the application.
   */
  readonly limit: Limit = createLimit(() => this.#rate);

  /**
   * Connects the bus and the rate limit to their server, reads which sessions were revoked, and removes the uploads that
   * killed processes have left. Await it before the server listens; otherwise the first use connects, and requests of
   * signed-in users may get 503 until the revocations were read. In production, it waits for them for up to 10 seconds, in
   * development for one. While the server is unreachable, this process counts for itself, logs that and retries. At the end it
   * runs `on_start`, once, however often it is called.
   *
   * @throws ConfigError if the client of the bus or, for metrics, prom-client is not installed, if Redis refuses the
   *   database, or if another application uses the namespace
   * @throws Error if `on_start` fails, with its error as the cause
   */
  async start(): Promise<void> {
    const { health, live, uploads, sessions } = this.#site;
    health.isStarting = true;
    this.#site.cachedPages?.start();
    await Promise.all([
      this.#tracing.start(),
      this.#metrics?.start(),
      this.#countsCalls ? this.#rate.start() : undefined,
      live.start(),
      uploads.start(),
      sessions.revocations.start(this.config.production ? FIRST_READ_MS : FIRST_READ_DEVELOPMENT_MS),
    ]);
    await this.#hooks.start();
    health.isStarting = false;
  }

  /**
   * Publishes a message to the pages of this application, with the guarantees of the function `publish`. Use it outside
   * a request if the process has several applications.
   *
   * @param name the channel: 1 to 128 bytes, no control characters
   * @param data anything that a server function may return, at most 64 KiB of JSON; of the type that `Channels` declares
   *   for the name
   * @throws TypeError for an invalid name
   * @throws SerializeError for data that cannot be serialised as JSON
   * @throws RangeError for a message that is too large
   * @throws Error while the bus is unreachable: then the message may or may not be delivered, at most once
   * @see docs/protocol.md 10.1
   */
  publish<Name extends string>(name: Name, ...[data]: PublishArguments<Name>): Promise<void> {
    return this.#site.live.publish(name, data);
  }

  /**
   * Signs users out as `session.revoke`, with the same guarantees. Use it outside a request, for example in a script or a
   * job that closes an account.
   *
   * @param who the user id of `session.login`, or `{ sid }` with the `session.sid` of a sign-in
   * @throws TypeError for anything else
   * @throws Error if the revocation may not be stored, or if the processes may not have been notified
   * @see docs/protocol.md 7.8
   */
  async revoke(who: RevokedUser): Promise<void> {
    await this.#site.sessions.revoke(subjectOf(who));
  }

  /**
   * Ends live connections and closes the connections to Redis or NATS, then calls `on_stop`. Call it after the last request
   * in flight has ended. Calling it again has no effect.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#site.sessions.revocations.close();
    await this.#site.live.close();
    removeStore(this.#rate);
    await this.#rate.close();
    this.#site.health.delay.close();
    const { settleErrors, stop, exportTraces } = this.#hooks;
    await runLastWork([[settleErrors], [stop, exportTraces]], this.#logging.log);
    this.#logging.log.close();
  }

  /**
   * Makes `/readyz` respond with 503, so that load balancers send no more requests, and ends live connections, so that
   * browsers connect to another process. All other requests are still handled.
   *
   * `stoppable` of `tsweb/node` calls it. Call it yourself on hosts without a server of Node.
   *
   * @param seconds the time over which live connections end, at random, so that their clients do not all reconnect at once
   */
  drain(seconds = 0): void {
    this.#site = { ...this.#site, draining: true };
    this.#site.live.drain(seconds * 1000);
  }

  #createMetrics(): Metrics | undefined {
    if (this.config.metricsPath === undefined) return undefined;
    const { live, health } = { live: () => this.#site.live, health: () => this.#site.health };
    return new Metrics(this.config, {
      liveConnections: () => live().connections.length,
      live: () => live().counts,
      isBusReachable: () => live().bus.state !== "unreachable",
      droppedLogLines,
      eventLoopDelayMs: () => health().delay.readMaximum(),
    });
  }

  #createLogging(options: AppOptions): AppLogging {
    const consoleLog = this.config.production || options.log ? null : createConsoleLogger();
    const logger = options.log ? wrapLogger(options.log) : (consoleLog ?? createJsonLogger());
    const targetOf = (inbound: InboundRequest) => requestTarget(inbound, this.#site);
    const errorHook = options.on_error && new ErrorHook(options.on_error, { log: logger, targetOf });
    const log = createAppLog(logger, {
      level: this.config.logLevel,
      requestFields: traceFields,
      onError: reportOnce((error, context) => {
        if (context) this.#tracing.failed(context, error);
        if (!isPublishFailure(error)) errorHook?.report(error, context);
      }),
      onPublishFailures: (error) => errorHook?.report(error, currentContext()),
      onRefused: this.#metrics?.refused,
    });
    return { log, logger, consoleLog, errorHook };
  }

  #createListeners(): RequestListener[] {
    const accessLog = this.config.accessLog ? [createAccessLog(this.#logging.logger)] : [];
    return this.#metrics ? [...accessLog, this.#metrics.listener] : accessLog;
  }

  /** Returns the metrics as the application serves them; `undefined` if it has none, or they have a port of their own. */
  #metricsEndpoint(): MetricsEndpoint | undefined {
    const { metricsPath: path, metricsPort } = this.config;
    const metrics = this.#metrics;
    if (!metrics || path === undefined || metricsPort !== undefined) return undefined;
    return { path, respond: (token) => metrics.respond(token) };
  }

  #createHooks(options: AppOptions): AppHooks {
    const { log, errorHook } = this.#logging;
    return {
      start: createStartHook(options.on_start, log),
      settleErrors: { name: ON_ERROR, run: () => errorHook?.settled() },
      stop: { name: "on_stop of new App", run: () => options.on_stop?.() },
      exportTraces: { name: "The export of traces", run: () => this.#tracing.flush() },
    };
  }

  #createInternals(options: AppOptions): AppInternals {
    const { log, logger, errorHook } = this.#logging;
    const { start, settleErrors, stop, exportTraces } = this.#hooks;
    const metrics = this.#metrics;
    return {
      log,
      sessions: this.#site.sessions,
      inspection: this.#site.inspection,
      handle: (inbound) => handleRequest(inbound, this.#site),
      onMount: () => this.#warnUnlessBuilt(),
      metrics: metrics && ((token) => metrics.respond(token)),
      logUnsent: (inbound, result, error) => logUnsent(inbound, result, { error, site: this.#site }),
      logCrash: async (error) => {
        logger.error({ err: error }, "Uncaught exception. The process ends with status 1");
        const reportError = { name: ON_ERROR, run: () => errorHook?.reportFatal(error) };
        await runLastWork([[reportError, exportTraces]], logger);
      },
      clientBytes: (inbound) => this.#site.bodyLimit.clientAt(addressOf(inbound, this.#site)),
      renderStaticPages: () => renderStaticPages(this.#site),
      checkPackages: async () => metrics?.start(),
      hooks: {
        hasStop: options.on_stop !== undefined,
        start,
        stop: () => runLastWork([[settleErrors], [stop]], log),
      },
      targetOf: (inbound) => requestTarget(inbound, this.#site),
      liveConnections: () => this.#site.live.connections,
      shownQueries: () => this.#site.live.queries?.runs.shown() ?? [],
      setDevelopment: (development) => this.#setDevelopment(options, development),
    };
  }

  #setDevelopment(options: AppOptions, development: Development): void {
    const { observer, printError } = development;
    const { consoleLog } = this.#logging;
    setDevelopmentStore(this.#rate);
    this.#site.live.setDevelopment(observer && ((channel, json) => observer.published(channel, json)));
    if (consoleLog) consoleLog.printError = printError;
    this.#site = siteInDevelopment(this.#site, options, development);
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

/** What an application logs with. */
interface AppLogging {
  readonly log: ClosableAppLog;
  /** What `log` writes to. */
  readonly logger: Logger;
  /** The same, if it writes to the console in development. */
  readonly consoleLog: ConsoleLogger | null;
  readonly errorHook: ErrorHook | undefined;
}

/** The functions of the application that run at the start and the end, and what has to end before the process does. */
interface AppHooks {
  /** Runs `on_start` once. */
  readonly start: () => Promise<void>;
  readonly settleErrors: LastWork;
  readonly stop: LastWork;
  readonly exportTraces: LastWork;
}

/** Returns the trace id of the current request, which every log line has. */
function traceFields(): object | undefined {
  const context = currentContext();
  return context && { trace_id: traceIdOf(context.traceparent) };
}

const ON_ERROR = "on_error of new App";

/**
 * How long the start waits for the revocations in production: a proxy sends requests to a process as soon as it listens, and
 * those of signed-in users need them. The limit keeps pages without a session working while the store is unreachable.
 */
const FIRST_READ_MS = 10_000;

/** The same in development, where a restart should be short and no other process serves requests meanwhile. */
const FIRST_READ_DEVELOPMENT_MS = 1_000;
