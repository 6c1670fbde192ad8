import type { Rolldown } from "vite";

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
