import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const COMPRESSIBLE = /\.(js|mjs|css|html|svg|json|txt|xml|map|webmanifest|wasm|ico|ttf|otf)$/;

/** Smaller files fit into one packet: compression would save nothing. */
const MIN_BYTES = 1024;

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/**
 * Writes compressed copies beside files, at the highest level: once at the build instead of at each request.
 *
 * @param files their paths below `folder`, each with a slash in front
 */
export async function compressFiles(folder: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    if (!COMPRESSIBLE.test(file)) continue;
    const path = join(folder, file);
    const bytes = await readFile(path);
    if (bytes.length < MIN_BYTES) continue;
    const [br, gz] = await Promise.all([
      compressBrotli(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
      compressGzip(bytes, { level: 9 }),
    ]);
    if (br.length < bytes.length) await writeFile(`${path}.br`, br);
    if (gz.length < bytes.length) await writeFile(`${path}.gz`, gz);
  }
}
