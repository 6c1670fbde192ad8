/**
 * A server of pages with islands, in the format of docs/protocol.md 11.7, without an application. The scripts are built
 * by Vite from the sources.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Fragment, type FunctionComponent, h } from "preact";
import { renderToString } from "preact-render-to-string";
import type { Rolldown } from "vite";
import { oncePerRun } from "#test/once-per-run";

/** A view on a page. */
export interface PlacedView {
  readonly name: string;
  readonly props?: Readonly<Record<string, unknown>>;
  /** The name of the fixture with the view. Default: `views`. */
  readonly from?: string;
}

/** The `mark` of all pages. */
export const MARK = "k3x9";

const POLICY = "default-src 'self'; script-src 'self'; img-src 'self' data:";

const resolvePath = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Builds the page script and the fixtures, once in a run of the tests. Returns the scripts by their paths. */
export async function buildScripts(): Promise<ReadonlyMap<string, string>> {
  const file = "scripts.json";
  const folder = await oncePerRun("island-scripts", async (folder) =>
    writeFileSync(join(folder, file), JSON.stringify(await bundle())),
  );
  return new Map(JSON.parse(readFileSync(join(folder, file), "utf8")));
}

/** Returns the paths and texts of the scripts. */
async function bundle(): Promise<(readonly [path: string, text: string])[]> {
  const { build } = await import("vite"); // only where the scripts are built
  const built = await build({
    root: resolvePath("../.."),
    configFile: false,
    logLevel: "error",
    // As in the builds of applications: tests set another NODE_ENV.
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      write: false,
      target: "es2022",
      modulePreload: false,
      rolldownOptions: {
        input: {
          islands: resolvePath("../../src/browser/islands.ts"),
          views: resolvePath("fixtures/views.tsx"),
          calls: resolvePath("fixtures/calls.tsx"),
          subscriptions: resolvePath("fixtures/subscriptions.tsx"),
          failures: resolvePath("fixtures/failures.tsx"),
        },
        preserveEntrySignatures: "exports-only",
        output: { entryFileNames: "assets/[name].js" },
      },
    },
  });
  const { output } = built as Rolldown.RolldownOutput; // one build without watch mode has one output
  return output.flatMap((file) => (file.type === "chunk" ? [[`/${file.fileName}`, file.code] as const] : []));
}

/** Views, by their names. */
export type Views = Readonly<Record<string, FunctionComponent>>;

/** Loads the fixture `views`, to render its views on the server. */
export async function loadViews(): Promise<Views> {
  const fixture = resolvePath("fixtures/views.tsx"); // a variable, because the compiler cannot check this JSX
  return import(fixture);
}

/** Returns the HTML of a view between its comments. */
export function renderIsland(views: Views, { name, props = {} }: PlacedView, index: number): string {
  const component = views[name];
  if (!component) throw new Error(`The fixture has no view ${name}.`);
  const root = Object.assign(h(component, props), { __m: [index + 1, 0] });
  const comment = (text: string) => h(Fragment, { UNSTABLE_comment: text } as object); // Preact's types omit it
  return renderToString(h(Fragment, null, [comment(`${MARK}:${index}`), root, comment(`/${MARK}:${index}`)]));
}

/** Returns a document with the page data of these views. */
export function documentOf(body: string, placedViews: readonly PlacedView[], { base = "", head = "" } = {}): string {
  const views = placedViews.map(({ name, props = {}, from = "views" }) => ({ src: `/assets/${from}.js`, name, props }));
  const data = JSON.stringify({ base, mark: MARK, views }).replaceAll("<", "\\u003c");
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    `<script type="application/json" id="tsweb">${data}</script>` +
    `<title>test</title>${head}<script type="module" src="/assets/islands.js"></script></head><body>${body}</body></html>`
  );
}

/** Handles the requests of a page. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** A server of pages, scripts, calls and live updates at one origin. */
export class IslandServer {
  readonly #scripts: ReadonlyMap<string, string>;
  readonly #pages = new Map<string, string>();
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  rpc: RequestHandler = (_, response) => void response.writeHead(404).end();
  live: RequestHandler = (_, response) => void response.writeHead(404).end();
  /** The promises that delay scripts, by their paths. */
  readonly delayed = new Map<string, Promise<void>>();

  constructor(scripts: ReadonlyMap<string, string>) {
    this.#scripts = scripts;
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Serves a document, and returns its URL. */
  page(html: string): string {
    const path = `/page-${this.#pages.size}`;
    this.#pages.set(path, html);
    const { port } = this.#server.address() as AddressInfo; // it listens on a port
    return `http://127.0.0.1:${port}${path}`;
  }

  /** Delays a script until the returned function is called. */
  delay(path: string): () => void {
    let release = () => {};
    const waiting = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.delayed.set(path, waiting);
    return release;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? "/";
    if (url.includes("/__web/rpc/")) {
      request.resume(); // bodies of calls are not examined
      return this.rpc(request, response);
    }
    if (url.includes("/__web/")) return this.live(request, response);
    response.setHeader("content-security-policy", POLICY);
    const [html, script] = [this.#pages.get(url), this.#scripts.get(url)];
    await this.delayed.get(url);
    if (html !== undefined) response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(html);
    else if (script !== undefined) response.writeHead(200, { "content-type": "text/javascript" }).end(script);
    else response.writeHead(url === "/favicon.ico" ? 204 : 404).end();
  }
}
