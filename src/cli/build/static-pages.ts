import { fork } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ConfigProblem } from "../../config/index.ts";
import type { StaticOutput, StaticPage } from "../../server/index.ts";
import { BuildError } from "../project/index.ts";

/** What the process that loads a built application sends. */
export interface LoadReport {
  /** Its static pages, for the build. */
  readonly output?: StaticOutput | undefined;
  /** Why it cannot be loaded, or why a page cannot be static, with the stack. */
  readonly error?: string | undefined;
  /** The problems, if that is a `ConfigError`. */
  readonly problems?: readonly ConfigProblem[] | undefined;
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
 * Renders the static pages of a built application in a process of its own, and writes them to its browser's files, with the files
 * that the application makes itself, and with `_headers`, the headers that another file server has to send.
 *
 * @param dir the folder of the build
 * @param taken the paths of files that the build has
 * @throws BuildError for a page that cannot be static
 */
export async function writeStaticPages(dir: string, taken: readonly string[]): Promise<StaticPage[]> {
  const { output, error } = await renderInChild(join(dir, "app.mjs"));
  if (error !== undefined) throw new BuildError(error);
  if (!output || output.pages.length === 0) return [];
  const { pages, generated } = output;
  for (const { path, file, html } of pages) {
    if (taken.includes(file))
      throw new BuildError(`The static page ${path} and a file of the build have one path: ${file}.`);
    await write(join(dir, "client", file), html);
  }
  for (const { path, text } of generated) await write(join(dir, "client", path), text);
  if (!taken.includes("/_headers")) await write(join(dir, "client/_headers"), formatHeaders(output));
  return pages.map(({ path, file, hasForm }) => ({ path, file, hasForm }));
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/**
 * Returns headers by their paths in the format of Netlify and Cloudflare Pages.
 *
 * @throws BuildError for a path with `*`, for which that format has no other notation than its wildcard
 */
export function formatHeaders({ base, pages, generated }: StaticOutput): string {
  const blocks: [path: string, headers: readonly (readonly [name: string, value: string])[]][] = [];
  for (const { path, headers } of pages) {
    if (path.includes("*"))
      throw new BuildError(
        `The static page ${path} has "*" in its path, which is a wildcard in _headers: its headers would be sent with other ` +
          "pages. Leave its parameters out of params, or write public/_headers yourself.",
      );
    const all = [...headers, ["cache-control", "no-cache"] as const];
    blocks.push([base + path, all]);
    if (path === "/" && base !== "") blocks.push([base, all]); // a file server redirects it, or shows the page
  }
  for (const { path, headers } of generated) blocks.push([base + path, Object.entries(headers)]);
  const lines = blocks.map(([path, headers]) => [path, ...headers.map(([name, value]) => `  ${name}: ${value}`)]);
  return lines.map((block) => `${block.join("\n")}\n`).join("\n");
}

function renderInChild(app: string): Promise<LoadReport> {
  const child = fork(fileURLToPath(new URL("../load-app-child.js", import.meta.url)), [app, "static-pages"], {
    env: { ...process.env, WEB_ENV: "development", WEB_BUS_URL: "" },
    execArgv: ["--enable-source-maps"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  return new Promise((resolve) => {
    child.once("message", (report: LoadReport) => resolve(report));
    child.once("error", (error) => resolve({ error: error.message }));
    child.once("exit", (code) =>
      resolve({ error: `The modules of the application end the process with status ${code}.` }),
    );
  });
}
