/**
 * The runtimes that a built application runs on. They are installed through npm when they are missing.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { repository } from "./copy-example.ts";

/** A runtime. Its npm package has the name of its program. */
export interface Runtime {
  readonly name: string;
  readonly program: "node" | "bun" | "deno";
  /** The accepted versions, as npm's range syntax. */
  readonly range: string;
  /** The program's arguments before the file. */
  readonly args: readonly string[];
  /** A module that serves `app.fetch` with the runtime's own HTTP server; `null` if it has none. */
  readonly ownServer: string | null;
}

const node = (range: string): Runtime => ({
  name: `Node ${range}`,
  program: "node",
  range,
  args: [],
  ownServer: null,
});

const BUN_SERVER = `
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request, server) => app.fetch(request, { address: server.requestIP(request)?.address }),
});
console.log("http://127.0.0.1:" + server.port);
`;

const DENO_SERVER = `
Deno.serve(
  { port: 0, hostname: "127.0.0.1", onListen: ({ port }) => console.log("http://127.0.0.1:" + port) },
  (request, { remoteAddr }) => app.fetch(request, { address: remoteAddr.hostname }),
);
`;

/** All supported runtimes, from the oldest Node to the newest, then the others. */
export const RUNTIMES: readonly Runtime[] = [
  node("20.19"),
  node("22"),
  node("24"),
  node("26"),
  { name: "Bun 1", program: "bun", range: "1", args: [], ownServer: BUN_SERVER },
  { name: "Deno 2", program: "deno", range: "2", args: ["run", "--allow-all"], ownServer: DENO_SERVER },
];

/** The newest supported Node. */
export const NEWEST_NODE = RUNTIMES.filter(({ program }) => program === "node").at(-1) ?? node("26");

const CACHE = join(repository, "node_modules", ".cache", "tsweb-runtimes");

/**
 * Returns the path of a runtime's program, and installs it first if necessary. Several test processes may do so at the
 * same time: each installs into a folder of its own, and the first one is kept.
 *
 * @throws Error with npm's output, when the program cannot be installed
 */
export async function installedProgram({ program, range }: Runtime): Promise<string> {
  const dir = join(CACHE, `${program}-${range}`);
  const path = join(dir, "node_modules", ".bin", program);
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const temporaryDir = mkdtempSync(`${dir}-`);
  writeFileSync(join(temporaryDir, "package.json"), '{ "private": true }\n');
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", `${program}@${range}`];
  // Variables of the npm command that runs the tests would change what this one does.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_(?!config_)/.test(name)));
  await promisify(execFile)("npm", args, { cwd: temporaryDir, env });
  try {
    renameSync(temporaryDir, dir);
  } catch (error) {
    if (!existsSync(path)) throw error;
    rmSync(temporaryDir, { recursive: true });
  }
  return path;
}

/** Returns the version that a program reports. */
export async function versionOf(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, ["--version"]);
  return /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? stdout.trim();
}
