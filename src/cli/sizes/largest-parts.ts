import { relativeFile } from "../project/index.ts";
import type { BuiltFiles, PageFiles } from "./built-files.ts";
import { type FileSize, gzipBytes } from "./page-sizes.ts";

/** A package, a module or a style sheet, and its share of the size of a page, in bytes after compression with gzip. */
export interface Part {
  readonly name: string;
  readonly bytes: number;
}

/** What is needed to divide the size of files among their modules. */
export interface PartsContext {
  readonly root: string;
  readonly files: BuiltFiles;
  readonly sizeOf: FileSize;
  /** Returns whether a module belongs to tsweb, wherever tsweb is. */
  readonly isOwnModule: (id: string) => boolean;
}

/** The number of parts that are listed. */
const MAX_PARTS = 3;

/** Returns the largest packages and modules in the scripts of a page. A script's size is divided by its modules' sizes. */
export async function largestScriptParts({ scripts }: PageFiles, context: PartsContext): Promise<Part[]> {
  const { root, files, sizeOf, isOwnModule } = context;
  const parts: Part[] = [];
  for (const path of scripts) {
    const modules = Object.entries(files.scripts.get(path)?.modules ?? {});
    const sizes = await Promise.all(modules.map(([, code]) => gzipBytes(code)));
    const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
    modules.forEach(([id], index) => {
      const name = packageOf(id) ?? (isOwnModule(id) ? "tsweb" : fileName(id, root));
      parts.push({ name, bytes: (sizeOf(path) * (sizes[index] ?? 0)) / total });
    });
  }
  return largest(parts);
}

/** Returns the largest style sheets of a page. */
export function largestStyleParts({ styles }: PageFiles, { files, sizeOf }: PartsContext): Part[] {
  return largest(styles.map((path) => ({ name: files.styleSources.get(path) ?? path, bytes: sizeOf(path) })));
}

/** Adds up parts with the same name, and returns the largest of them. */
function largest(parts: readonly Part[]): Part[] {
  const byName = new Map<string, number>();
  for (const { name, bytes } of parts) byName.set(name, (byName.get(name) ?? 0) + bytes);
  return [...byName]
    .map(([name, bytes]) => ({ name, bytes }))
    .sort((one, other) => other.bytes - one.bytes)
    .slice(0, MAX_PARTS);
}

/** Returns the package of a module by its innermost folder in `node_modules`. */
function packageOf(id: string): string | undefined {
  return /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id)?.[1]?.replaceAll("\\", "/");
}

/** Modules that start with a null byte are made by the build tool. */
function fileName(id: string, root: string): string {
  return id.startsWith("\0") ? "code of Vite" : relativeFile(root, id.replace(/\?.*$/, ""));
}
