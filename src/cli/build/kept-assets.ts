import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import type { Rolldown } from "vite";
import type { KeptBuild, Manifest } from "../../server/index.ts";
import { BuildError } from "../project/index.ts";

/** How long the assets of a build are kept after the next build: as long as a session lasts. */
const KEPT_MS = 7 * 86_400_000;

/** What a build takes over of an earlier one. */
export interface EarlierBuild {
  /** The folder with the browser's files. */
  readonly clientDir: string;
  readonly manifest: Manifest;
}

/**
 * Reads the manifest of an earlier build; `undefined` if its folder does not exist.
 *
 * @param folder the `dist` of the earlier build
 * @throws BuildError for a folder that contains no build, or one of a version of tsweb without build ids
 */
export async function readEarlierBuild(folder: string): Promise<EarlierBuild | undefined> {
  if (!existsSync(folder)) return undefined;
  const text = await readFile(join(folder, "manifest.mjs"), "utf8").catch(() => ""); // the error below names the folder
  const json = /^export const buildManifest = (\{.*\});\s*$/s.exec(text)?.[1];
  const manifest: Partial<Manifest> = json === undefined ? {} : JSON.parse(json);
  if (manifest.build !== undefined) return { clientDir: join(folder, "client"), manifest: manifest as Manifest };
  throw new BuildError(
    `--keep-from: ${folder} contains no build of this version of tsweb. Name the dist folder of the earlier build, ` +
      "which contains manifest.mjs.",
  );
}

/**
 * Returns a manifest that also has the hashed files of an earlier build, and of those that it has kept itself, if they were
 * replaced less than seven days before. The files are copied, with their compressed copies.
 *
 * Only names with a hash are taken over: a file with the same name has the same content.
 *
 * @param clientDir the folder of the new build's files
 */
export async function keepAssets(manifest: Manifest, earlier: EarlierBuild, clientDir: string): Promise<Manifest> {
  const now = buildTimeMs(manifest.build);
  const own = new Set(manifest.files);
  const kept: KeptBuild[] = [];
  for (const candidate of keptBuilds(earlier.manifest, now)) {
    const files: string[] = [];
    for (const file of candidate.files) {
      if (own.has(file) || !(await copyAsset(file, earlier.clientDir, clientDir))) continue;
      own.add(file);
      files.push(file);
    }
    if (files.length > 0) kept.push({ ...candidate, files });
  }
  const added = kept.flatMap(({ files }) => files);
  return {
    ...manifest,
    kept,
    files: [...manifest.files, ...added].sort(),
    hashedFiles: [...manifest.hashedFiles, ...added].sort(),
  };
}

/** Returns the builds whose files an earlier build has: its own, and those that it has kept and that are still young. */
function keptBuilds({ build, hashedFiles, kept }: Manifest, now: number): KeptBuild[] {
  const takenOver = new Set(kept.flatMap(({ files }) => files));
  const own = hashedFiles.filter((file) => !takenOver.has(file));
  return [{ build, replacedAt: now, files: own }, ...kept.filter(({ replacedAt }) => now - replacedAt < KEPT_MS)];
}

/** Copies a file and its compressed copies. Returns whether it exists. */
async function copyAsset(file: string, from: string, to: string): Promise<boolean> {
  // The manifest may come from anywhere: its paths must not lead out of the folder.
  if (!file.startsWith("/") || posix.normalize(file) !== file || !existsSync(join(from, file))) return false;
  for (const extension of ["", ".br", ".gz"]) {
    const source = join(from, file + extension);
    if (existsSync(source)) await cp(source, join(to, file + extension));
  }
  return true;
}

/** Nine base-36 digits hold a time in milliseconds until the year 5188. Because of the fixed width, ids compare as texts. */
const TIME_DIGITS = 9;
const RANDOM_DIGITS = 4;

/**
 * Returns the id of a new build: 13 base-36 digits, nine for the time and four random ones. A later build has a greater id.
 *
 * @param previous the id of an earlier build that is known. The new id is greater, even if the clock of the machine that made
 *   the earlier build is ahead
 */
export function createBuildId(previous = "", nowMs: number = Date.now()): string {
  const time = Math.max(nowMs, buildTimeMs(previous) + 1);
  const random = randomBytes(4).readUInt32BE() % 36 ** RANDOM_DIGITS;
  return toDigits(time, TIME_DIGITS) + toDigits(random, RANDOM_DIGITS);
}

/** Returns when a build was made, in milliseconds since the Unix epoch; 0 for a text that is no id. */
export function buildTimeMs(id: string): number {
  return Number.parseInt(id.slice(0, TIME_DIGITS), 36) || 0;
}

function toDigits(value: number, width: number): string {
  return value.toString(36).padStart(width, "0");
}

/** The options of a bundle that name its files. */
type NameOptions = Pick<Rolldown.NormalizedOutputOptions, "entryFileNames" | "chunkFileNames" | "assetFileNames">;

/**
 * Returns the names of the files of a bundle that contain a hash of the file's content, so that browsers may cache them
 * without revalidation. A Vite config can choose names without a hash, and a plugin can give a file any name.
 *
 * A name is compared with the pattern of its option. When unsure, it counts as one without a hash: if the option is a
 * function, or the name does not match the pattern.
 */
export function hashedNames(bundle: Rolldown.OutputBundle, options: NameOptions): string[] {
  const patterns = {
    entry: namePattern(options.entryFileNames),
    chunk: namePattern(options.chunkFileNames),
    asset: namePattern(options.assetFileNames),
  };
  return Object.values(bundle)
    .filter((file) => patterns[file.type === "chunk" && file.isEntry ? "entry" : file.type]?.test(file.fileName))
    .map(({ fileName }) => fileName);
}

/** The shortest hash that counts as one. Bundlers write 8 characters by default. */
const MIN_HASH_LENGTH = 6;

/** Returns an expression for the names of a pattern such as `assets/[name]-[hash].js`; `null` without a hash in it. */
function namePattern(pattern: unknown): RegExp | null {
  if (typeof pattern !== "string" || !pattern.includes("[hash")) return null;
  const expression = pattern
    .split(/(\[[^\]]+\])/)
    .map((part) => {
      if (!/^\[.*\]$/.test(part)) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      const [, length = "8"] = /^\[hash(?::(\d+))?\]$/.exec(part) ?? [];
      return part.startsWith("[hash") ? `[\\w-]{${Math.max(Number(length), MIN_HASH_LENGTH)}}` : ".*";
    })
    .join("");
  return new RegExp(`^${expression}$`);
}
