import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { normalizePath, type ResolvedConfig, type Rolldown } from "vite";
import {
  isServerOnly,
  ProjectError,
  realPath,
  relativePath,
  ServerOnlyError,
  serverOnlyMessage,
} from "./modules/index.ts";
import { stripQuery } from "./syntax/index.ts";

/**
 * Checks the folder of public files, which is copied to the browser's files.
 *
 * @throws ServerOnlyError for a file in it that is server-only, also as a link
 * @throws ProjectError for a link that leads out of the folder. The development server does not follow it, and the copy would
 *   publish its target.
 */
export async function checkPublicFiles(publicDir: string, root: string): Promise<void> {
  if (publicDir === "") return; // none is configured
  const folder = normalizePath(publicDir);
  const names = await readdir(folder, { recursive: true }).catch(() => []); // it does not exist
  const realFolder = realPath(folder);
  for (const name of names) {
    const file = join(folder, name).replaceAll("\\", "/");
    const target = realPath(file);
    const found = [file, target].find((candidate) => isServerOnly(candidate, root));
    if (found) {
      const use = `cannot be served from ${relativePath(file, root)}, as all files in ${relativePath(folder, root)} are`;
      throw new ServerOnlyError(serverOnlyMessage(relativePath(found, root), use));
    }
    if (!target.startsWith(`${realFolder}/`)) {
      throw new ProjectError(
        `${relativePath(file, root)} is a link to ${target}, which is not in ${relativePath(folder, root)}. Files outside of ` +
          "this folder are not served. Copy the file into the folder, or remove the link.",
      );
    }
  }
}

/**
 * Checks the assets that a build emits, for example for a `url(…)` in a style sheet.
 *
 * @throws ServerOnlyError for an asset with the text of a server-only file
 */
export function checkEmittedAssets(bundle: Rolldown.OutputBundle, root: string): void {
  for (const asset of Object.values(bundle)) {
    if (asset.type !== "asset") continue;
    const file = asset.originalFileNames.find((name) => isServerOnly(name, root));
    if (!file) continue;
    const use = `cannot be an asset (${asset.fileName})`;
    throw new ServerOnlyError(
      `${serverOnlyMessage(file, use)} Or remove the reference to it, for example an import with "?url" or a url(…) in a style sheet.`,
    );
  }
}

/** The name of the plugin with which Vite compiles style sheets. */
const CSS_PLUGIN = "vite:css";

/**
 * Rejects a style sheet into which Vite inlines a server-only file as a data URL, as for `url("./x?inline")`. Vite
 * resolves these URLs by itself, after preprocessors have computed them, so only its result shows all of them. The files
 * that a style sheet depends on are known only to its plugin; not all of them are inlined.
 *
 * @throws Error if Vite has no such plugin, so that an update of Vite cannot end this protection unnoticed
 */
export function checkInlinedFiles(config: ResolvedConfig): void {
  const root = normalizePath(config.root);
  const transform = config.plugins.find(({ name }) => name === CSS_PLUGIN)?.transform;
  if (typeof transform !== "object") {
    throw new Error(`Vite has no plugin "${CSS_PLUGIN}" whose result can be checked. Update tsweb, or use Vite 8.3.`);
  }
  const { handler } = transform;
  const checked: typeof handler = async function (css, id, meta) {
    const files: string[] = [];
    const result = await handler.call(recordingContext(this, files), css, id, meta);
    const text = typeof result === "object" ? result?.code : result;
    await rejectInlinedFiles({ css: String(text ?? ""), sheet: relativePath(stripQuery(id), root), files }, root);
    return result;
  };
  transform.handler = checked;
}

/** Returns a plugin context that also records the files that are watched, which a style sheet depends on. */
function recordingContext<T extends object>(context: T, files: string[]): T {
  return new Proxy(context, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      return (...input: unknown[]) => {
        if (key === "addWatchFile") files.push(normalizePath(String(input[0])));
        return Reflect.apply(value, target, input);
      };
    },
  });
}

async function rejectInlinedFiles(
  { css, sheet, files }: { css: string; sheet: string; files: readonly string[] },
  root: string,
): Promise<void> {
  const candidates = files.filter((file) => isServerOnly(file, root));
  if (candidates.length === 0) return;
  const inlined = dataUrls(css);
  for (const file of candidates) {
    const content = await readFile(file).catch(() => undefined); // a folder, or deleted since
    if (content === undefined || !inlined.has(comparable(content))) continue;
    throw new ServerOnlyError(serverOnlyMessage(relativePath(file, root), `cannot be inlined into ${sheet}`));
  }
}

/** Returns the contents of the data URLs in a style sheet. */
function dataUrls(css: string): Set<string> {
  const contents = new Set<string>();
  for (const [, isBase64, data = ""] of css.matchAll(/data:[^,"')]*?(;base64)?,((?:[^"'()\\]|'[^"]*?')*)/g)) {
    contents.add(comparable(isBase64 ? Buffer.from(data, "base64") : Buffer.from(decode(data))));
  }
  return contents;
}

function decode(data: string): string {
  return data.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
}

/** Returns a content without what differs between an SVG file and the data URL that Vite makes of it: white space, quotes. */
function comparable(content: Buffer): string {
  return content.toString("latin1").replaceAll('"', "'").replace(/\s+/g, "");
}
