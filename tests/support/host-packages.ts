/**
 * The packages of fixtures: host frameworks, Vite plugins, React libraries. They are installed when
 * a test or `npm run matrix` needs them.
 */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { repository } from "./copy-example.ts";

/** The folder of the programs that serve an application through a host framework. */
export const HOSTS_DIR = join(repository, "tests/conformance/fixtures/hosts");

/** The folder of the server of Nitro. */
export const NITRO_DIR = join(repository, "tests/conformance/fixtures/nitro");

/** The folder of the Vite plugins that docs/vite.md describes. */
export const VITE_PLUGINS_DIR = join(repository, "tests/browser/fixtures/vite-plugins");

/** Options of npm for a folder with packages of its own. */
const NPM_OPTIONS = ["--no-workspaces", "--no-audit", "--no-fund", "--loglevel=error"] as const;

/**
 * Installs the packages of a folder, such as {@link HOSTS_DIR}, unless their versions are installed already: those in its
 * package-lock.json or, without such a file, in its package.json. npm ci refuses the lock file of packages of which npm finds
 * no variants for other systems.
 *
 * @param args further arguments of npm
 * @throws Error with npm's output, when they cannot be installed
 */
export async function installPackages(dir: string, ...args: string[]): Promise<void> {
  const isLocked = existsSync(join(dir, "package-lock.json"));
  if (isInstalled(dir, isLocked ? "package-lock.json" : "package.json")) return;
  const command = isLocked ? ["ci"] : ["install", "--no-package-lock"];
  await runCommand("npm", [...command, ...NPM_OPTIONS, ...args], dir);
}

/**
 * Installs Nitro in {@link NITRO_DIR} unless it is installed, and builds its server, `.output/server/index.mjs`.
 *
 * @returns the version of Nitro
 * @throws Error with the output of npm or Nitro, when one of them fails
 */
export async function buildNitro(): Promise<string> {
  await installPackages(NITRO_DIR);
  const nitro = join(NITRO_DIR, "node_modules/nitro");
  await runCommand(process.execPath, [join(nitro, "dist/cli/index.mjs"), "build"], NITRO_DIR);
  return JSON.parse(readFileSync(join(nitro, "package.json"), "utf8")).version;
}

/** Returns whether the packages of a folder were installed after its file of versions was last changed. */
function isInstalled(dir: string, versionsFile: string): boolean {
  const installed = join(dir, "node_modules", ".package-lock.json");
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(dir, versionsFile)).mtimeMs;
}

async function runCommand(program: string, args: readonly string[], cwd: string): Promise<void> {
  // Variables of the npm command that runs the tests would change what this one does.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_(?!config_)/.test(name)));
  await promisify(execFile)(program, args, { cwd, env });
}
