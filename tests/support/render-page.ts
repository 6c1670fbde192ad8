/**
 * Renders pages without a server and returns their responses and log lines.
 */
import { h } from "preact";
import { runInContext, run as runToEnd } from "../../src/http/index.ts";
import type { Assets } from "../../src/pages/document.ts";
import { DefaultError } from "../../src/pages/error-page.ts";
import { handlePage } from "../../src/pages/handle-page.ts";
import { type PageOptions, type PageResult, pageOf } from "../../src/pages/page.ts";
import type { PageSettings } from "../../src/pages/render-document.ts";
import { compiledPage, compiledView } from "./compiled-app.ts";
import { requestContext } from "./request-context.ts";

const assets: Assets = {
  scripts: [],
  islands: { src: "/assets/islands.js", preload: [] },
  partViews: { src: "/assets/part-views.js", preload: [] },
  view: ({ name }) => ({ src: `/assets/${name}.js`, preload: [] }),
  styles: (page) => (page ? [`/assets/${page.file.replaceAll("/", "-")}.css`] : []),
};

/** Returns default page settings and the array that receives the log lines of warnings and errors. */
export function pageSettings(more: Partial<PageSettings> = {}) {
  const logged: string[] = [];
  const write = (fields: object, message: string) => void logged.push(`${message} ${(fields as { err?: Error }).err}`);
  const settings: PageSettings = {
    title: "Shop",
    lang: "en",
    base: "",
    layout: null,
    error: DefaultError,
    signIn: null,
    development: false,
    log: { info: () => undefined, warn: write, error: write, refused: (_, fields, message) => write(fields, message) },
    assets,
    ...more,
  };
  return { settings, logged };
}

export interface RenderedPage {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly html: string;
  readonly body: string;
  readonly logged: readonly string[];
  /** The islands in the page's data. */
  readonly views: readonly { src: string; name: string; props: Record<string, unknown> }[];
}

/** Handles a request for a page with this function and returns the response. */
export async function renderPage(
  run: () => PageResult | Promise<PageResult>,
  options: PageOptions = {},
  more: Partial<PageSettings> = {},
): Promise<RenderedPage> {
  const definition = pageOf(compiledPage("/", run, options));
  if (!definition) throw new Error("compiledPage() returned a value that is not a page.");
  const context = requestContext();
  const { settings, logged } = pageSettings(more);
  const {
    status,
    headers = {},
    body,
  } = await runInContext(context, () => runToEnd(handlePage(context, definition, {}, settings)));
  const html = String(body ?? "");
  const [, data] = /<script type="application\/json" id="tsweb">(.*?)<\/script>/.exec(html) ?? [];
  return {
    status,
    headers,
    html,
    body: /<body>(.*)<\/body>/s.exec(html)?.[1] ?? "",
    logged,
    views: data === undefined ? [] : JSON.parse(data).views,
  };
}

/** Returns the body with the random string in the comments around islands removed. */
export function withoutIslandMarkers(body: string): string {
  return body.replace(/<!--(\/?)[\w-]+:(\d+)-->/g, "[$1$2]");
}

export const Hello = compiledView("Hello", ({ name = "you" }: { name?: string }) => h("b", null, "Hello ", name));
