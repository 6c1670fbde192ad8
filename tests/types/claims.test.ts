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
  // Inside the repository, so that the compiler finds the packages.
  folder = await mkdtemp(join(ROOT, "node_modules", ".types-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Returns the output of the TypeScript compiler: the errors, or an empty string. */
async function tsc(...args: string[]): Promise<string> {
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  try {
    return (await run(process.execPath, [compiler, ...args], { cwd: ROOT })).stdout;
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout); // errors of execFile have the output
  }
}

/**
 * Compiles a fixture as a program of its own, since its declaration of claims applies to the whole program.
 *
 * @param entryPoint the file that the fixture imports as "tsweb"
 * @returns the errors of the compiler, or an empty string
 */
async function compileErrors(fixture: string, entryPoint: string): Promise<string> {
  const config = {
    extends: join(ROOT, "tsconfig.json"),
    compilerOptions: { paths: { tsweb: [entryPoint] }, typeRoots: [join(ROOT, "node_modules/@types")] },
    include: [],
    files: [join(ROOT, "tests/types/fixtures", fixture)],
  };
  const path = join(folder, `${fixture}.json`);
  await writeFile(path, JSON.stringify(config));
  return tsc("-p", path);
}

describe("the types of a session", () => {
  it("are the claims that the application has declared", async () => {
    expect(await compileErrors("claims.ts", join(ROOT, "src/session/index.ts"))).toBe("");
  });

  it("are any JSON values if the application has declared no claims", async () => {
    expect(await compileErrors("claims-open.ts", join(ROOT, "src/session/index.ts"))).toBe("");
  });

  it("are the same in the published declarations", async () => {
    const dist = join(folder, "dist");
    await tsc("-p", "tsconfig.build.json", "--emitDeclarationOnly", "--outDir", dist);
    for (const entryPoint of ["session/index.d.ts", "index.d.ts"]) {
      expect(await compileErrors("claims.ts", join(dist, entryPoint))).toBe("");
      expect(await compileErrors("claims-open.ts", join(dist, entryPoint))).toBe("");
    }
  });
});
