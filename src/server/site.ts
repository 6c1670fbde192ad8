import type { Config } from "../config/index.ts";
import { createSecurityHeaders, type SecurityHeaders, type SecurityOptions, sessionCookieName } from "../http/index.ts";
import { LiveUpdates } from "../live/index.ts";
import type { Logger } from "../logging/index.ts";
import { type Assets, DefaultError, type PageSettings } from "../pages/index.ts";
import { concurrencyLimit, type RateStore } from "../rate-limit/index.ts";
import { type CallSettings, compileChecks } from "../rpc/index.ts";
import type { AppOptions } from "./app-options.ts";
import { buildManifest } from "./build-manifest.ts";
import type { Inspection } from "./inspection.ts";
import { manifestAssets } from "./manifest.ts";
import { type CalledFunction, checkCalledFunctions, type Listing } from "./modules.ts";
import { createAppRouter, type Router } from "./router.ts";
import { createStaticFiles, type StaticFiles } from "./static-files.ts";

/** Everything that the request pipeline uses of an application. */
export interface Site {
  readonly config: Config;
  readonly log: Logger;
  /** The path below which the application is served; empty for the root. */
  readonly base: string;
  readonly calls: CallSettings;
  readonly live: LiveUpdates;
  readonly pages: PageSettings;
  readonly router: Router;
  /** The browser's files of a built application; `null` in any other. */
  readonly files: StaticFiles | null;
  readonly security: SecurityHeaders;
  /** The security headers of pages that have options of their own. */
  readonly pageSecurity: ReadonlyMap<object, SecurityHeaders>;
  readonly inspection: Inspection;
  /** The version of the project; set by the development server only. */
  readonly version?: string | undefined;
  /** Whether the process is about to stop. */
  readonly draining: boolean;
}

/** The parts of a site that are not options of the application. */
export interface SiteParts {
  readonly config: Config;
  readonly listing: Listing;
  /** Counts calls; `null`: calls are not limited. */
  readonly rate: RateStore | null;
  readonly log: Logger;
}

/** Builds the site of an application. */
export function createSite(options: AppOptions, { config, listing, rate, log }: SiteParts): Site {
  const { functions, pages, routes } = listing;
  const { base = "", title = "", strict = false } = options;
  const openStreams = concurrencyLimit(config.maxStreamsPerClient);
  return {
    config,
    log,
    base,
    calls: {
      functions,
      log,
      rate,
      rpc_timeout: options.rpc_timeout,
      openStreams,
      strict: strict ? compileChecks(functions) : null,
    },
    live: new LiveUpdates({ busUrl: config.busUrl, log, connectionLimit: openStreams }),
    pages: {
      title,
      lang: options.lang ?? "en",
      base,
      layout: options.layout ?? null,
      error: options.error ?? DefaultError,
      development: false,
      log,
      assets: buildManifest && manifestAssets(buildManifest),
    },
    router: createAppRouter(pages, routes),
    files: buildManifest && createStaticFiles(buildManifest.files, { log }),
    ...securityOf(config, options, { pages, development: false }),
    inspection: {
      title,
      base,
      strict,
      functions: [...functions.values()],
      pages,
      routes,
      sessionCookie: sessionCookieName(config.cookieSecure),
      csrf: config.csrfSecret !== undefined,
    },
    draining: false,
  };
}

/** The data that the development server provides in place of a build. */
export interface Development {
  /** The server functions that the current browser code calls. */
  readonly called: readonly CalledFunction[];
  readonly assets: Assets;
  /** Renders the page that shows an error to the developer; `id` is the request's. */
  readonly showError: (error: unknown, id: string) => Promise<string>;
  /** The version of the project, for its OpenAPI document. */
  readonly version?: string | undefined;
}

/**
 * Returns a site as the development server needs it: with its assets and its error page, and without rate limit.
 *
 * @throws Error when browser code calls a function that is not served
 */
export function siteInDevelopment(site: Site, options: SecurityOptions, development: Development): Site {
  const { calls, pages, config, inspection } = site;
  const { assets, called, showError, version } = development;
  checkCalledFunctions(called, calls);
  return {
    ...site,
    pages: { ...pages, assets, showError, development: true },
    calls: { ...calls, rate: null },
    version,
    ...securityOf(config, options, { pages: inspection.pages, development: true }),
  };
}

/** Builds the security headers of the application, and of pages that have options of their own. */
function securityOf(
  { cookieSecure: secure }: Config,
  options: SecurityOptions,
  { pages, development }: { pages: Listing["pages"]; development: boolean },
): Pick<Site, "security" | "pageSecurity"> {
  const environment = { development, secure };
  const pagesWithOptions = pages.filter((page) => page.options.policy || page.options.headers);
  return {
    security: createSecurityHeaders(environment, options),
    pageSecurity: new Map(
      pagesWithOptions.map((page) => [page, createSecurityHeaders(environment, options, page.options)]),
    ),
  };
}
