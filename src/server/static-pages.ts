import type { Config } from "../config/index.ts";
import {
  type ContextValues,
  type HandlerResponse,
  type InboundRequest,
  isValidPath,
  type ResponseSecurity,
  type SecurityHeaders,
  SharedRendering,
} from "../http/index.ts";
import { type PageDefinition, type PageSettings, renderSharedPage } from "../pages/index.ts";
import { formatHref } from "../protocol/index.ts";
import { formatLocation, type Inspection } from "./modules.ts";
import type { Router } from "./router.ts";
import { createStaticFiles, type GeneratedFile, generatedHeaders, type StaticFilesOptions } from "./static-files.ts";

/** A page that the build has rendered, as the manifest lists it. */
export interface StaticPage {
  /** Its path without the base, percent-encoded. */
  readonly path: string;
  /** Its file, below the browser's files. */
  readonly file: string;
  /** Whether it has a form of a server function, which needs a CSRF token where these are required. */
  readonly hasForm: boolean;
}

/** A static page with its content. */
interface RenderedPage extends StaticPage {
  readonly html: string;
  /** The headers that another file server has to send with it. */
  readonly headers: readonly (readonly [string, string])[];
}

/** What the build writes of an application with static pages. */
export interface StaticOutput {
  readonly base: string;
  readonly pages: readonly RenderedPage[];
  /** The files that the application makes itself, and to which pages refer, with their headers. */
  readonly generated: readonly (Pick<GeneratedFile, "path" | "text"> & {
    readonly headers: Readonly<Record<string, string>>;
  })[];
}

/** Serves the pages that the build has rendered; `null` for any other path. */
export type StaticPages = (inbound: InboundRequest, path: string) => Promise<HandlerResponse | null> | null;

/**
 * Returns the handler of the pages that the build has rendered. A page with a form is not served as a file while CSRF tokens are
 * required.
 */
export function createStaticPages(
  pages: readonly StaticPage[],
  { hasTokens, ...options }: StaticFilesOptions & { readonly hasTokens: boolean },
): StaticPages {
  const served = pages.filter(({ hasForm }) => !hasForm || !hasTokens);
  const files = createStaticFiles(
    served.map(({ file }) => file),
    options,
  );
  const fileOf = new Map(served.map(({ path, file }) => [path, file]));
  return (inbound, path) => {
    const file = fileOf.get(path);
    return file === undefined ? null : files.handle(inbound, encodeURI(file));
  };
}

/** The parts of a site with which its static pages are rendered. */
interface StaticSite {
  readonly base: string;
  readonly config: Config;
  readonly provided: ContextValues;
  readonly router: Router;
  readonly pages: PageSettings;
  readonly inspection: Pick<Inspection, "pages">;
  readonly security: ResponseSecurity;
  readonly documentSecurity: SecurityHeaders | undefined;
  readonly pageSecurity: ReadonlyMap<object, SecurityHeaders>;
  readonly generated: Readonly<Record<string, GeneratedFile | null>>;
}

/**
 * Renders all pages with the option `static`, for the build.
 *
 * @throws Error for a page that uses what belongs to one request, and for one whose status is not 200
 */
export async function renderStaticPages(site: StaticSite): Promise<StaticOutput> {
  const rendered: RenderedPage[] = [];
  for (const page of site.inspection.pages) {
    if (!page.options.static) continue;
    for (const params of await paramsOf(page)) rendered.push(await renderStaticPage(site, page, params));
  }
  const generated = Object.values(site.generated).flatMap((file) =>
    file ? [{ path: file.path, text: file.text, headers: generatedHeaders(file) }] : [],
  );
  return { base: site.base, pages: rendered, generated };
}

type Params = Readonly<Record<string, string | number>>;

async function paramsOf({ path, options, source }: PageDefinition): Promise<readonly Params[]> {
  if (!options.params) return [{}];
  const list: unknown = await options.params();
  if (Array.isArray(list)) return list;
  throw new Error(
    `params of the page ${path} (${formatLocation(source)}) must return a list of parameters, such as [{ id: "1" }].`,
  );
}

async function renderStaticPage(site: StaticSite, page: PageDefinition, params: Params): Promise<RenderedPage> {
  const name = `The page ${page.path} (${formatLocation(page.source)})`;
  const path = formatHref("", page.path, params);
  const match = isValidPath(path) ? site.router("GET", path) : undefined;
  if (match?.kind !== "page" || match.page !== page)
    throw new Error(`${name} is not served at ${path}, which params names.`);
  const shared = new SharedRendering({
    id: "0".repeat(32),
    traceparent: `00-${"0".repeat(31)}1-${"0".repeat(15)}1-00`,
    config: site.config,
    provided: site.provided,
    url: `http://localhost${site.base}${path}`,
    query: [],
    subject: `${name} is static: rendered by the build`,
    fix: "Move it into a view or a server function, or remove the option static.",
    queryFix: "A static page has no query.",
  });
  const result = await renderSharedPage(shared, page, match.params, site.pages);
  if (result.html === null) {
    const { status, headers } = await result.respond(shared.context);
    const target = headers?.location === undefined ? "" : ` (redirect to ${headers.location})`;
    throw new Error(
      `${name} responds with the status ${status}${target} at ${path}. A static page must have the status 200.`,
    );
  }
  return {
    path,
    file: fileOf(path, name),
    hasForm: shared.context.shared?.hasForm ?? false,
    html: result.html,
    headers: site.pageSecurity.get(page) ?? site.documentSecurity ?? site.security.documents,
  };
}

/** Returns the file of a path: `/about.html` for `/about`, so that its relative links stay the same. */
function fileOf(path: string, name: string): string {
  if (path === "/") return "/index.html";
  const segments = path.slice(1).split("/").map(decodeURIComponent);
  if (segments.every((segment) => /^[^./\\][^/\\]*$/.test(segment))) return `/${segments.join("/")}.html`;
  throw new Error(`${name} cannot be a file at ${path}: a segment begins with a dot, or contains a slash.`);
}
