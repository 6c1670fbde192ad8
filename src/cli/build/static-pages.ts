import { fork } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RenderedPage, StaticPage } from "../../server/index.ts";
import { BuildError } from "../project/index.ts";

/** What the process that renders the pages sends. */
export interface RenderReport {
  readonly pages?: readonly RenderedPage[];
  /** Why a page cannot be static, with its stack. */
  readonly error?: string;
}

/** Matches the option of a static page. When unsure, it matches: then the application is loaded for nothing. */
const STATIC_OPTION = /\bstatic["']?\s*:/;

/** Returns whether a module of the application may declare a static page. Otherwise, the build runs none of its code. */
export async function mayHaveStaticPages(modules: readonly string[]): Promise<boolean> {
  for (const id of modules) {
    if (id.includes("/node_modules/") || !/\.[cm]?[jt]sx?$/.test(id)) continue;
    if (STATIC_OPTION.test(await readFile(id, "utf8").catch(() => ""))) return true;
  }
  return false;
}

/**
 * Renders the static pages of a built application in a process of its own, and writes them to its browser's files, with
 * `_headers`, the headers that another file server has to send with them.
 *
 * @param dir the folder of the build
 * @param taken the paths of files that the build has
 * @throws BuildError for a page that cannot be static
 */
export async function writeStaticPages(dir: string, taken: readonly string[]): Promise<StaticPage[]> {
  const { pages = [], error } = await renderInChild(join(dir, "app.mjs"));
  if (error !== undefined) throw new BuildError(error);
  for (const { path, file, html } of pages) {
    if (taken.includes(file))
      throw new BuildError(`The static page ${path} and a file of the build have one path: ${file}.`);
    const target = join(dir, "client", file);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, html);
  }
  if (pages.length > 0 && !taken.includes("/_headers"))
    await writeFile(join(dir, "client/_headers"), formatHeaders(pages));
  return pages.map(({ path, file, hasForm }) => ({ path, file, hasForm }));
}

/** Returns the headers of the pages in the format of Netlify and Cloudflare Pages. */
function formatHeaders(pages: readonly RenderedPage[]): string {
  const blocks = pages.map(({ path, headers }) => {
    const lines = [...headers, ["cache-control", "no-cache"] as const].map(([name, value]) => `  ${name}: ${value}\n`);
    return `${path}\n${lines.join("")}`;
  });
  return blocks.join("\n");
}

function renderInChild(app: string): Promise<RenderReport> {
  const child = fork(fileURLToPath(new URL("../static-pages-child.js", import.meta.url)), [app], {
    env: { ...process.env, WEB_ENV: "development", WEB_BUS_URL: "" },
    execArgv: ["--enable-source-maps"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  return new Promise((resolve) => {
    child.once("message", (report: RenderReport) => resolve(report));
    child.once("error", (error) => resolve({ error: error.message }));
    child.once("exit", (code) =>
      resolve({ error: `The modules of the application end the process with status ${code}.` }),
    );
  });
}
