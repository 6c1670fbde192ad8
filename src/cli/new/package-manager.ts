import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BuildError } from "../project/index.ts";

/** npm, or one of its alternatives. */
export interface PackageManager {
  readonly name: "npm" | "pnpm" | "yarn" | "bun";
  /** Its version. Empty if it is unknown. */
  readonly version: string;
}

/**
 * Returns the package manager that has started this process; npm if none has.
 *
 * @param userAgent the environment variable `npm_config_user_agent`, such as `pnpm/10.1.0 npm/? node/v22.1.0 linux x64`
 */
export function detectPackageManager(userAgent: string | undefined): PackageManager {
  const [, name, version = ""] = /^(npm|pnpm|yarn|bun)\/(\S+)/.exec(userAgent ?? "") ?? [];
  if (name === "pnpm" || name === "yarn" || name === "bun") return { name, version };
  return { name: "npm", version: name === "npm" ? version : "" };
}

/** Returns whether a package manager is Yarn 2 or later, which has other files and defaults than Yarn 1. */
export function isModernYarn({ name, version }: PackageManager): boolean {
  return name === "yarn" && !/^[01]\./.test(version);
}

/** A command of npm, without options: the command, the script, a `--` before the arguments, spaces before a comment. */
const NPM_COMMAND = /\bnpm (?:(install|test|start)(?! -|[\w-])|run ([\w:-]+)(?: --(?= ))?)( +(?=# ))?/g;

/**
 * Replaces npm's commands in a text by those of another package manager: `npm test` becomes `pnpm run test`. A comment
 * after a command keeps its column if there is room.
 *
 * Scripts are always started with `run`: `bun test`, for example, is not the script `test`.
 */
export function translateCommands(text: string, { name }: PackageManager): string {
  if (name === "npm") return text;
  return text.replace(NPM_COMMAND, (all: string, command: string | undefined, script: string, gap?: string) => {
    const translated = command === "install" ? `${name} install` : `${name} run ${command ?? script}`;
    return gap === undefined ? translated : `${translated} `.padEnd(all.length);
  });
}

const LOCK_FILES = [
  ["package-lock.json", "npm"],
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
] as const;

/**
 * Returns the package manager of a project: by its package.json or its lock file, otherwise the one that has started this
 * process.
 *
 * @param dir the folder of the project
 * @param field the field `packageManager` of its package.json, such as `pnpm@10.1.0`
 * @param userAgent the environment variable `npm_config_user_agent`
 */
export function projectPackageManager(
  dir: string,
  field: string | undefined,
  userAgent: string | undefined,
): PackageManager {
  const [, named, namedVersion = ""] = /^(npm|pnpm|yarn|bun)@([\d.]+)/.exec(field ?? "") ?? [];
  if (named === "npm" || named === "pnpm" || named === "yarn" || named === "bun") {
    return { name: named, version: namedVersion };
  }
  const started = detectPackageManager(userAgent);
  const [lockFile, name = started.name] = LOCK_FILES.find(([file]) => existsSync(join(dir, file))) ?? [];
  if (name === started.name) return started;
  const isYarn1 = lockFile === "yarn.lock" && readFileSync(join(dir, lockFile), "utf8").includes("# yarn lockfile v1");
  return { name, version: isYarn1 ? "1.22.22" : "" };
}

/** npm and its alternatives are batch files on Windows, which only a shell starts. All arguments are constants. */
const shell = process.platform === "win32";

/**
 * Installs the packages of a project, and shows the output of the package manager.
 *
 * @param dir the folder of the project
 * @returns `null`, or why the installation failed
 */
export function installPackages({ name }: PackageManager, dir: string): Promise<string | null> {
  // With NODE_ENV=production, npm would omit the development dependencies. On CI servers, Yarn would refuse to write the
  // new yarn.lock.
  const { NODE_ENV: _mode, ...inherited } = process.env;
  const env = { ...inherited, YARN_ENABLE_IMMUTABLE_INSTALLS: "false" };
  const child = spawn(name, ["install"], { cwd: dir, env, stdio: "inherit", shell });
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(`${name} could not be started: ${error.message}.`));
    child.on("close", (status, signal) => {
      const reason = signal === null ? `exit status ${status}` : `signal ${signal}`;
      resolve(status === 0 ? null : `${name} install failed (${reason}). Its messages are above.`);
    });
  });
}

/**
 * Packs the package in a folder, as `npm publish` would.
 *
 * @param dir the folder of the package, which must be built
 * @returns the path of the packed file, in the same folder
 * @throws BuildError with npm's messages
 */
export function packFolder(dir: string): string {
  const options = { cwd: dir, encoding: "utf8", shell } as const;
  const { status, stdout, stderr, error } = spawnSync("npm", ["pack", "--json", "--ignore-scripts"], options);
  if (status === 0) {
    const [{ filename }] = JSON.parse(stdout);
    return join(dir, filename);
  }
  throw new BuildError(
    `tsweb in ${dir} could not be packed for the new project. Nothing was written. ` +
      `npm pack failed:\n${error?.message ?? stderr.trim()}`,
  );
}
