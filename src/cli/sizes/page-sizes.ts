import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { PageFiles } from "./built-files.ts";

/** The sizes of what a browser loads for a page, in bytes after compression with gzip. */
export interface PageSize {
  readonly files: PageFiles;
  readonly script: number;
  readonly style: number;
  readonly later: number;
}

/** Returns the size of a file, in bytes after compression with gzip. */
export type FileSize = (path: string) => number;

const compress = promisify(gzip);

/** Returns the size of text in bytes after compression with gzip, at the highest level as in a build. */
export async function gzipBytes(content: string | Uint8Array): Promise<number> {
  return (await compress(content, { level: 9 })).length;
}

/** Measures the files of pages, each once. */
export async function readFileSizes(pages: readonly PageFiles[], clientDir: string): Promise<FileSize> {
  const sizes = new Map<string, number>();
  for (const path of new Set(pages.flatMap(({ scripts, later, styles }) => [...scripts, ...later, ...styles])))
    sizes.set(path, await gzipBytes(await readFile(join(clientDir, path))));
  return (path) => sizes.get(path) ?? 0;
}

/** Returns the sizes of pages, the largest page first. */
export function sizesOfPages(pages: readonly PageFiles[], sizeOf: FileSize): PageSize[] {
  const total = (paths: readonly string[]) => paths.reduce((sum, path) => sum + sizeOf(path), 0);
  return pages
    .map((files) => ({
      files,
      script: total(files.scripts),
      style: total(files.styles),
      later: total(files.later),
    }))
    .sort((one, other) => other.script + other.style - one.script - one.style || compareNames(one, other));
}

function compareNames(one: PageSize, other: PageSize): number {
  return nameOfPage(one) < nameOfPage(other) ? -1 : 1;
}

/** Returns the path pattern of a page, or its location if the path is not written as text. */
export function nameOfPage({ files: { page } }: PageSize): string {
  return page.path ?? `${page.name} (${page.file}:${page.line})`;
}

/** Returns a number of bytes in kB, which are 1000 bytes, with one decimal. What is not empty has at least 0.1 kB. */
export function formatSize(bytes: number): string {
  return `${(bytes === 0 ? 0 : Math.max(0.1, bytes / 1000)).toFixed(1)} kB`;
}
