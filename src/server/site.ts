import { MAX_BODY_BYTES, MAX_BODY_BYTES_PER_CLIENT, UPLOADS, UploadStore } from "../bodies/index.ts";
import type { Config } from "../config/index.ts";
import {
  BodyLimit,
  type BuildToolAccess,
  ContextValues,
  createDataHeaders,
  createSecurityHeaders,
  type InboundRequest,
  isValidPath,
  LINKED_SITE,
  PREFETCHED_PAGES,
  type PrefetchError,
  type ResponseSecurity,
  type SecurityHeaders,
  type SecurityOptions,
} from "../http/index.ts";
import { type CallCounter, RATE_STORE } from "../limits/index.ts";
import {
  APP_BUS,
  createRealtime,
  hasSharedBus,
  LiveUpdates,
  QUERY_READER,
  type Realtime,
  revocationSource,
} from "../live/index.ts";
import type { AppLog } from "../logging/index.ts";
import { type MetricsEndpoint, type RequestListener, RequestListeners } from "../observe/index.ts";
import { DEFERRED_SCRIPT, DEFERRED_SCRIPT_PATH, DefaultError, type PageSettings, setLinkBase } from "../pages/index.ts";
import { clientKey, concurrencyLimit, type RateStore } from "../rate-limit/index.ts";
import {
  type CallSettings,
  compileChecks,
  type FunctionDefinition,
  maxCallBody,
  maxFormBody,
  OUTCOMES,
} from "../rpc/index.ts";
import { AppSessions, type Authenticate, SESSIONS } from "../session/index.ts";
import type { AppOptions } from "./app-options.ts";
import type { Before } from "./before.ts";
import { buildManifest } from "./build-manifest.ts";
import { CachedPages } from "./cached-pages.ts";
import { EventLoopDelay, type Health } from "./health.ts";
import { createAddressReader, createProxyWarning, createRemovedBaseWarning } from "./host-info.ts";
import { manifestAssets } from "./manifest.ts";
import { formatLocation, type Inspection, type Listing } from "./modules.ts";
import { createSpeculationRules, Prefetches } from "./prefetches.ts";
import { createAppRouter, type Router } from "./router.ts";
import {
  createStaticFiles,
  type GeneratedFile,
  type StaticFiles,
  transitionStyles,
  withGeneratedFiles,
} from "./static-files.ts";
import { createStaticPages, type StaticPages } from "./static-pages.ts";

/** The settings of live updates, for all applications of this process. */
export const realtime: Realtime = createRealtime({ isBuilt: buildManifest !== null });

/** Everything that the request pipeline uses of an application. */
export interface Site {
  readonly config: Config;
  readonly log: AppLog;
  /** The path below which the application is served; empty for the root. */
  readonly base: string;
  /** The function that decides bearer tokens; `undefined` without one. */
  readonly authenticate: Authenticate | undefined;
  /** The function that runs before requests; `undefined` without one. */
  readonly before: Before | undefined;
  readonly calls: CallSettings;
  readonly live: LiveUpdates;
  readonly pages: PageSettings;
  /** Reads the client's address from the second argument of `app.fetch`. */
  readonly readAddress: (info: unknown) => string | undefined;
  /** Logs once that a request lacks the header of the trusted proxies. */
  readonly warnOfMissingProxy: (inbound: InboundRequest) => void;
  /** The pages with the option `cache`; `null` without any. */
  readonly cachedPages: CachedPages | null;
  /** The pages that the build has rendered; `null` without any. */
  readonly staticPages: StaticPages | null;
  readonly router: Router;
  readonly sessions: AppSessions;
  /** What code in a request finds of the application: its bus, its sessions, its store for uploads. */
  readonly provided: ContextValues;
  /** Logs a warning once, if a host has removed the base from the path of a request. */
  readonly warnOfRemovedBase: (method: string, pathname: string) => void;
  /** The browser's files of a built application; `null` in any other. */
  readonly files: StaticFiles | null;
  /** Limits the request bodies that each client has in flight. */
  readonly bodyLimit: BodyLimit;
  /** The clients that have prefetched pages. */
  readonly prefetches: Prefetches;
  /** Where the large files of forms are stored. */
  readonly uploads: UploadStore;
  readonly security: ResponseSecurity;
  /** The headers of the documents of pages, with the speculation rules; `undefined` if they are those of all documents. */
  readonly documentSecurity: SecurityHeaders | undefined;
  /** The same, of pages that have options of their own. */
  readonly pageSecurity: ReadonlyMap<object, SecurityHeaders>;
  /** What the application has generated for browsers. */
  readonly generated: GeneratedParts;
  readonly inspection: Inspection;
  /** Returns the OpenAPI document of the functions as JSON; set by the development server only. */
  readonly openapi?: (() => string) | undefined;
  /** Observe requests. */
  readonly listeners: RequestListeners;
  readonly health: Health;
  /** The metrics, if they have a path of the application. */
  readonly metrics: MetricsEndpoint | undefined;
  /** Prints in development that a prefetch was refused. */
  readonly reportPrefetch?: ((error: PrefetchError) => void) | undefined;
  /** Whether the process is about to stop. */
  readonly draining: boolean;
}

/** The files that the application generates. */
interface GeneratedParts extends Readonly<Record<string, GeneratedFile | null>> {
  /** The speculation rules; `null` without any. */
  readonly rules: GeneratedFile | null;
  /** The module of views that are hydrated later. */
  readonly deferred: GeneratedFile;
  /** The style sheet of transitions; `null` without them. */
  readonly transitions: GeneratedFile | null;
}

/** The parts of a site that are not options of the application. */
export interface SiteParts {
  readonly config: Config;
  readonly listing: Listing;
  readonly limits: CallCounter;
  /** What `limit` counts with. */
  readonly rateStore: RateStore;
  readonly log: AppLog;
  /** Observe requests. */
  readonly listeners: readonly RequestListener[];
  readonly metrics: MetricsEndpoint | undefined;
}

/** Builds the site of an application. */
export function createSite(
  options: AppOptions,
  { config, listing, limits, rateStore, log, listeners, metrics }: SiteParts,
): Site {
  const { functions, queries, pages, routes } = listing;
  const { base = "", title = "", strict = false } = options;
  checkStaticPages(pages, options.before);
  checkMaxBodies({ functions: functions.values(), routes, maxBody: options.max_body, config });
  const openStreams = concurrencyLimit(config.maxStreamsPerClient);
  const router = createAppRouter(pages, routes);
  for (const endpoint of [...pages, ...routes]) setLinkBase(endpoint, base);
  const serves = (path: string) => isValidPath(path) && ["page", "route"].includes(router("GET", path)?.kind ?? "");
  const { prefetch = "hover", transitions = false } = options;
  const manifestFiles = buildManifest?.files ?? [];
  const generated: GeneratedParts = {
    rules:
      prefetch === false
        ? null
        : createSpeculationRules({ pages, routes, router, base, files: manifestFiles, when: prefetch }),
    deferred: { path: DEFERRED_SCRIPT_PATH, type: "text/javascript; charset=utf-8", text: DEFERRED_SCRIPT },
    transitions: transitions ? transitionStyles() : null,
  };
  const prefetches = new Prefetches({ hasOtherProcesses: () => config.busUrl !== undefined || hasSharedBus() });
  const build = buildManifest?.build ?? null;
  const live = new LiveUpdates({
    bus: { busUrl: config.busUrl, busNamespace: config.busNamespace },
    log,
    secrets: [config.secret, ...config.previousSecrets],
    connectionLimit: openStreams,
    queries: { queries, config, log, build, rpc_timeout: options.rpc_timeout, provided: () => provided },
  });
  const sessions = new AppSessions({ revocations: revocationSource(live.bus, config), log });
  sessions.onSignedOut = (sid) => live.signedOut(sid);
  const uploads = new UploadStore({
    dir: config.uploadDir,
    maxBytes: config.maxUploadBytes,
    maxBytesPerClient: config.maxUploadBytesPerClient,
    keyOf: clientKey,
    log,
  });
  const provided = new ContextValues()
    .set(APP_BUS, live.bus)
    .set(SESSIONS, sessions)
    .set(UPLOADS, uploads)
    .set(RATE_STORE, rateStore)
    .set(OUTCOMES, {
      claim: async (key, text) => live.bus.outcomes.claim(key, text),
      write: async (key, text) => live.bus.outcomes.write(key, text),
      remove: async (key) => live.bus.outcomes.remove(key),
      isHalfFull: () => live.bus.outcomes.isHalfFull?.() ?? false,
    })
    .set(LINKED_SITE, { base, serves })
    .set(QUERY_READER, live.queries?.runs)
    .set(PREFETCHED_PAGES, generated.rules ? prefetches : undefined);
  const hasCache = pages.some(({ options: { cache, static: isStatic } }) => cache || isStatic);
  return {
    config,
    log,
    base,
    authenticate: options.authenticate,
    before: options.before,
    calls: {
      base,
      functions,
      log,
      limits,
      rpc_timeout: options.rpc_timeout,
      max_body: options.max_body,
      openStreams,
      strict: strict ? compileChecks(functions) : null,
      build,
      connectionsBefore: (earlier) => live.connectionsBefore(earlier),
    },
    live,
    sessions,
    pages: {
      title,
      lang: options.lang ?? "en",
      base,
      layout: options.layout ?? null,
      ...(options.headers ? { headers: options.headers } : {}),
      error: options.error ?? DefaultError,
      signIn: signInPath(options.sign_in, router),
      development: false,
      log,
      assets: buildManifest && manifestAssets(buildManifest),
      transitions: generated.transitions && base + generated.transitions.path,
    },
    readAddress: createAddressReader(log),
    warnOfMissingProxy: createProxyWarning(log),
    bodyLimit: new BodyLimit(maxBodyBytesPerClient(functions, options.max_body), clientKey),
    uploads,
    provided,
    staticPages: buildManifest?.staticPages
      ? createStaticPages(buildManifest.staticPages, {
          log,
          isCompressed: config.compress,
          hasTokens: config.csrfSecret !== undefined,
        })
      : null,
    cachedPages: hasCache ? new CachedPages({ bus: live.bus, router, base, provided }) : null,
    router,
    prefetches,
    generated,
    warnOfRemovedBase: createRemovedBaseWarning({ base, router, log }),
    files: withGeneratedFiles(
      buildManifest &&
        createStaticFiles(buildManifest.files, {
          log,
          hashed: buildManifest.hashedFiles,
          isCompressed: config.compress,
        }),
      generated,
    ),
    ...securityOf(config, options, { pages, base, generated, buildTool: null }),
    inspection: {
      title,
      base,
      origins: config.origins,
      strict,
      functions: [...functions.values()],
      pages,
      routes,
      sessionCookie: config.sessionCookie,
      csrf: config.csrfSecret !== undefined,
      bearer: options.authenticate !== undefined,
    },
    listeners: new RequestListeners(listeners),
    metrics,
    health: { delay: new EventLoopDelay(), isStarting: false },
    draining: false,
  };
}

/** What the security headers are made of, besides the options of the application. */
interface SecurityInput extends Pick<Site, "base" | "generated"> {
  readonly pages: Listing["pages"];
  readonly buildTool: BuildToolAccess | null;
}

/** Builds the security headers of the application, and of pages that have options of their own. */
export function securityOf(
  { cookieSecure: secure }: Config,
  options: SecurityOptions,
  { pages, buildTool, base, generated: { rules } }: SecurityInput,
): Pick<Site, "security" | "pageSecurity" | "documentSecurity"> {
  const environment = { buildTool, secure };
  const ofDocuments = rules ? [{ headers: { "speculation-rules": JSON.stringify(base + rules.path) } }] : [];
  const pagesWithOptions = pages.filter((page) => page.options.policy || page.options.headers);
  return {
    security: {
      documents: createSecurityHeaders(environment, options),
      data: createDataHeaders(environment, options),
    },
    documentSecurity: rules ? createSecurityHeaders(environment, ...ofDocuments, options) : undefined,
    pageSecurity: new Map(
      pagesWithOptions.map((page) => [page, createSecurityHeaders(environment, ...ofDocuments, options, page.options)]),
    ),
  };
}

/**
 * Returns the path of the sign-in page.
 *
 * @throws Error if there is no such page or route, because each page that requires a user would redirect to a 404
 */
function signInPath(path: string | undefined, router: Router): string | null {
  if (path === undefined) return null;
  const kind = router("GET", path.replace(/\?.*/s, ""))?.kind;
  if (kind === "page" || kind === "route") return path;
  throw new Error(
    `new App: sign_in is ${JSON.stringify(path)}, but there is no page and no GET route with this path. List its module ` +
      "in `modules`.",
  );
}

/** @throws Error for a static page that does not allow that file servers show it without `before` */
function checkStaticPages(pages: Listing["pages"], before: Before | undefined): void {
  const page = before && pages.find(({ options }) => options.static === true);
  if (!page) return;
  throw new Error(
    `new App: the page ${page.path} (${formatLocation(page.source)}) is static, so that other file servers send it without \`before\`. ` +
      'If everybody may see it, write static: "public"; otherwise remove the option.',
  );
}

/** What an application accepts of request bodies. */
interface BodyMaximums {
  readonly functions: Iterable<FunctionDefinition>;
  readonly routes: Listing["routes"];
  /** The option of the application. */
  readonly maxBody: number | undefined;
  readonly config: Pick<Config, "maxUploadBytesPerClient">;
}

/**
 * Checks that the uploads of one client may be as large as one body of each function and route.
 *
 * @throws RangeError otherwise: such a body would always be refused
 */
function checkMaxBodies({ functions, routes, maxBody, config }: BodyMaximums): void {
  const limit = config.maxUploadBytesPerClient;
  const check = (owner: string, bytes: number) => {
    if (bytes <= limit) return;
    throw new RangeError(
      `max_body of ${owner} is ${bytes}, but one client may have only ${limit} bytes of uploads at once. Set ` +
        "WEB_MAX_UPLOAD_BYTES_PER_CLIENT, and WEB_MAX_UPLOAD_BYTES, to more.",
    );
  };
  for (const definition of functions)
    check(`the function ${definition.signature.name}`, maxFormBody(definition, maxBody));
  for (const { options, method, path } of routes) {
    check(`the route ${method} ${path}`, options.max_body ?? maxBody ?? MAX_BODY_BYTES);
  }
}

/**
 * Returns how many bytes of bodies one client may have in memory: at least the largest JSON that a function accepts.
 *
 * @param maxBody the option of the application
 */
function maxBodyBytesPerClient(
  functions: ReadonlyMap<string, FunctionDefinition>,
  maxBody: number | undefined,
): number {
  return Math.max(
    MAX_BODY_BYTES_PER_CLIENT,
    ...[...functions.values()].map((definition) => maxCallBody(definition, maxBody)),
  );
}
