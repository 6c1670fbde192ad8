/**
 * The runtimes that a built application runs on, installed through npm where they are not there yet.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { repository } from "./copy-example.ts";

/** A runtime, and the npm package that brings its program. */
export interface Runtime {
  readonly name: string;
  readonly program: "node" | "bun" | "deno";
  /** The versions that will do, as npm reads them. */
  readonly range: string;
  /** What the program is told before the file that it runs. */
  readonly args: readonly string[];
  /** A module that serves `app.fetch` with the runtime's own server; `null`: it has none. */
  readonly ownServer: string | null;
}

const node = (range: string): Runtime => ({
  name: `Node ${range}`,
  program: "node",
  range,
  args: [],
  ownServer: null,
});

const OWN_SERVER_OF_BUN = `
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request, server) => app.fetch(request, { address: server.requestIP(request)?.address }),
});
console.log("http://127.0.0.1:" + server.port);
`;

const OWN_SERVER_OF_DENO = `
Deno.serve(
  { port: 0, hostname: "127.0.0.1", onListen: ({ port }) => console.log("http://127.0.0.1:" + port) },
  (request, { remoteAddr }) => app.fetch(request, { address: remoteAddr.hostname }),
);
`;

/** All of them: the oldest Node that runs a built application first, the newest before the others. */
export const RUNTIMES: readonly Runtime[] = [
  node("20.19"),
  node("22"),
  node("24"),
  node("26"),
  { name: "Bun 1", program: "bun", range: "1", args: [], ownServer: OWN_SERVER_OF_BUN },
  { name: "Deno 2", program: "deno", range: "2", args: ["run", "--allow-all"], ownServer: OWN_SERVER_OF_DENO },
];

/** The newest Node that a built application is held to. */
export const NEWEST_NODE = RUNTIMES.filter(({ program }) => program === "node").at(-1) ?? node("26");

const CACHE = join(repository, "node_modules", ".cache", "tsweb-runtimes");

/**
 * Gives the path of a runtime's program, installed first where it is not there. Several tests may ask at once,
 * in processes of their own: each installs it in a folder of its own, and the first to be ready is kept.
 *
 * @throws Error with what npm wrote, when it cannot be installed
 */
export async function programOf({ program, range }: Runtime): Promise<string> {
  const dir = join(CACHE, `${program}-${range}`);
  const path = join(dir, "node_modules", ".bin", program);
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const own = mkdtempSync(`${dir}-`);
  writeFileSync(join(own, "package.json"), '{ "private": true }\n');
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", `${program}@${range}`];
  // npm's settings for the run under way are not for this one.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_(?!config_)/.test(name)));
  await promisify(execFile)("npm", args, { cwd: own, env });
  try {
    renameSync(own, dir);
  } catch (error) {
    if (!existsSync(path)) throw error;
    rmSync(own, { recursive: true });
  }
  return path;
}

/** Gives the version that a program says it has. */
export async function versionOf(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, ["--version"]);
  return /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? stdout.trim();
}
