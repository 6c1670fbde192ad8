import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

let folder: string;
beforeAll(async () => {
  // Inside the repository: what is compiled there finds the packages.
  folder = await mkdtemp(join(ROOT, "node_modules", ".types-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs the compiler and gives what it complains of. */
async function tsc(...args: string[]): Promise<string> {
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  try {
    return (await run(process.execPath, [compiler, ...args], { cwd: ROOT })).stdout;
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout); // execFile's errors carry what was written
  }
}

/**
 * Compiles a fixture by itself, since what it says of its claims holds for a whole program, with
 * `door` as its "tsweb"; gives what is complained of.
 */
async function complaints(fixture: string, door: string): Promise<string> {
  const config = {
    extends: join(ROOT, "tsconfig.json"),
    compilerOptions: { paths: { tsweb: [door] }, typeRoots: [join(ROOT, "node_modules/@types")] },
    include: [],
    files: [join(ROOT, "tests/types/fixtures", fixture)],
  };
  const path = join(folder, `${fixture}.json`);
  await writeFile(path, JSON.stringify(config));
  return tsc("-p", path);
}

describe("the types of a session", () => {
  it("are the application's own, once it has said what its claims are", async () => {
    expect(await complaints("claims.ts", join(ROOT, "src/session/index.ts"))).toBe("");
  });

  it("are any JSON as long as it has not", async () => {
    expect(await complaints("claims-open.ts", join(ROOT, "src/session/index.ts"))).toBe("");
  });

  it("are both as well in the declarations that are published", async () => {
    const dist = join(folder, "dist");
    await tsc("-p", "tsconfig.build.json", "--emitDeclarationOnly", "--outDir", dist);
    for (const door of ["session/index.d.ts", "index.d.ts"]) {
      expect(await complaints("claims.ts", join(dist, door))).toBe("");
      expect(await complaints("claims-open.ts", join(dist, door))).toBe("");
    }
  });
});
