import type { Config } from "../config/index.ts";
import {
  type BuildToolAccess,
  clientAddress,
  completeResponse,
  createDataHeaders,
  createSecurityHeaders,
  errorBody,
  htmlResponse,
  type InboundRequest,
  isCallPath,
  jsonResponse,
  type OutboundResponse,
  observeRedirects,
  type Redirect,
  RequestContext,
  requestIds,
  type SecurityOptions,
} from "../http/index.ts";
import type { AppLog } from "../logging/index.ts";
import type { RequestListener } from "../observe/index.ts";
import type { Assets } from "../pages/index.ts";
import type { CallSettings } from "../rpc/index.ts";
import { type CalledFunction, checkCalledFunctions } from "./modules.ts";
import { type Site, securityOf } from "./site.ts";
import { createStaticFiles, withGeneratedFiles } from "./static-files.ts";

/** The data that the development server provides in place of a build. */
export interface Development {
  /** The server functions that the current browser code calls. */
  readonly called: readonly CalledFunction[];
  readonly assets: Assets;
  /** What the content security policy allows for the build tool. */
  readonly buildTool: BuildToolAccess;
  /** Renders the page that shows an error to the developer; `id` is the request's. */
  readonly showError: (error: unknown, id: string) => Promise<string>;
  /** Returns why a path has no page although a module declares one; `undefined` if none does, or the client is remote. */
  readonly adviseUnloadedPage?: (path: string) => Promise<string | undefined>;
  /**
   * Reports the current request, for which there is no page or route.
   *
   * @param allow the methods that the path of the request has, if it has any
   */
  readonly reportUnserved?: (allow?: string) => Promise<void>;
  /** Reports a redirect of a request to its own URL. */
  readonly reportRedirectLoop?: (redirect: Redirect) => void;
  /** Receives each redirect when it is created, in the code that creates it. */
  readonly redirectCreated?: (redirect: Redirect) => void;
  /** Reports that the default limit would have refused a call in production. */
  readonly reportDefaultLimit?: (limit: string) => void;
  /** Prints an error in the terminal, after a line about the event. */
  readonly printError: (error: unknown, event: string) => void;
  /** The folder of the files that are served as they are, and which of its paths are; `null` without a folder. */
  readonly publicFiles: { readonly dir: string; includes(path: string): boolean } | null;
  /** Returns the OpenAPI document of the functions as JSON. */
  readonly openapi: () => string;
  /** Receives what the application does. Absent while the panel of the development server is closed. */
  readonly observer?: Observer | undefined;
}

/**
 * Receives what an application does, for the panel of the development server: its requests, and also the arguments of
 * functions, errors and messages. Its methods must not throw. A built application has no observer.
 */
export interface Observer extends RequestListener {
  /** Returns server functions that do the same as these, and whose runs are observed. */
  observeFunctions(functions: CallSettings["functions"]): CallSettings["functions"];
  /** Returns a log that writes to this one, and whose errors are observed. */
  observeLog(log: AppLog): AppLog;
  /** Called when a message was published. `json` is its data. */
  published(channel: string, json: string): void;
}

/**
 * Returns a site as the development server needs it: with its assets and its error page. Only a rate that the application has
 * set is applied.
 *
 * @throws Error when browser code calls a function that is not served
 */
export function siteInDevelopment(site: Site, options: SecurityOptions, development: Development): Site {
  const { calls, pages, config, inspection, log } = site;
  const { assets, buildTool, called, showError, publicFiles, openapi, observer } = development;
  const { adviseUnloadedPage, reportUnserved, reportRedirectLoop } = development;
  // The functions of the inspection: those of `calls` may be the observed ones of the request before.
  const functions = new Map(inspection.functions.map((definition) => [definition.signature.name, definition]));
  checkCalledFunctions(called, { functions });
  site.listeners.setDevelopment(observer);
  observeRedirects(development.redirectCreated);
  const observedLog = observer?.observeLog(log) ?? log;
  return {
    ...site,
    pages: {
      ...{ ...pages, assets, showError, adviseUnloadedPage, reportUnserved, reportRedirectLoop },
      development: true,
      log: observedLog,
    },
    calls: {
      ...calls,
      limits: calls.limits.inDevelopment(({ text }) => development.reportDefaultLimit?.(text)),
      development: true,
      functions: observer?.observeFunctions(functions) ?? functions,
      log: observedLog,
    },
    files: withGeneratedFiles(
      publicFiles && createStaticFiles(publicFiles.includes, { log, dir: publicFiles.dir }),
      site.generated,
    ),
    reportPrefetch: (error) => development.printError(error, PREFETCH_REFUSED),
    openapi,
    ...securityOf(config, options, { ...site, pages: inspection.pages, buildTool }),
  };
}

const PREFETCH_REFUSED =
  "A prefetch was refused. If this page does that at each request, leave it out: page(path, { prefetch: false }, …)";

/** The options of {@link respondToLoadFailure}. */
export interface LoadFailure {
  readonly config: Config;
  readonly buildTool: BuildToolAccess;
  /** The base path that the application had when it was last loaded; `null` if it never was. */
  readonly base: string | null;
  /** Renders the page that shows the error; `id` is the request's. */
  readonly showError: (id: string) => Promise<string>;
}

/**
 * Returns the response to a request whose application could not be loaded, in development: an error body for a call, the
 * page that shows the error for anything else. It has the headers of every response.
 *
 * @see docs/protocol.md 12.5
 */
export async function respondToLoadFailure(
  inbound: InboundRequest,
  { config, buildTool, base, showError }: LoadFailure,
): Promise<OutboundResponse | Response> {
  const context = new RequestContext({
    inbound,
    ...requestIds((name) => inbound.header(name)),
    address: clientAddress(inbound.address, inbound.header("x-forwarded-for"), config.trustProxy),
    config,
  });
  const environment = { buildTool, secure: config.cookieSecure };
  const security = { documents: createSecurityHeaders(environment), data: createDataHeaders(environment) };
  if (!isCallPath(inbound.pathname, base)) {
    return completeResponse(htmlResponse(500, await showError(context.id)), context, security);
  }
  const message = `The application could not be loaded. The terminal of the development server shows why. Request ${context.id}.`;
  return completeResponse(jsonResponse(500, errorBody("internal", message)), context, security);
}
