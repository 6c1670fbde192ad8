/**
 * The command line of tsweb, run as a user would: in a process of its own, built.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { repository } from "./copy-example.ts";

/** Variables for a process, beside those of this one. */
export type Environment = Readonly<Record<string, string>>;

/** An application that is running. */
export interface Running {
  /** As `http://localhost:43121`. */
  readonly address: string;
  /** Gives all that it has written so far. */
  output(): string;
  signal(signal: NodeJS.Signals): void;
  /** Its exit code, or the signal that ended it, once it has ended. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /**
   * Sends `SIGTERM`, and waits for the end.
   *
   * @returns its exit code
   */
  stop(): Promise<number | null>;
}

/** Runs `tsweb dev` in a project's folder, on a free port, and waits until it listens. */
export function startDev(dir: string, env: Environment = {}): Promise<Running> {
  return listening(start(["dev", dir], { dir, env }), "tsweb dev");
}

/** Serves what {@link build} made, on a free port, and waits until it listens. */
export function startBuilt(dir: string, env: Environment = {}): Promise<Running> {
  return listening(start(["serve", join(dir, "dist")], { dir, env }), "tsweb serve");
}

/**
 * Runs `tsweb build` in a project's folder.
 *
 * @throws Error with all that it wrote, when it fails
 */
export async function build(dir: string): Promise<void> {
  await succeed(start(["build", dir], { dir, env: {} }), "tsweb build");
}

/**
 * Runs a command of `tsweb` to its end, in a folder.
 *
 * @returns its exit code and all that it wrote
 */
export async function runTsweb(
  dir: string,
  args: readonly string[],
  env: Environment = {},
): Promise<{ readonly code: number | null; readonly output: string }> {
  const { child, output } = start(args, { dir, env });
  const [code] = await once(child, "close");
  return { code, output: output() };
}

/**
 * Runs a script of a project with `node --import tsweb/register`.
 *
 * @returns what it wrote
 * @throws Error with what it wrote, when it fails
 */
export function runScript(dir: string, args: readonly string[], env: Environment = {}): Promise<string> {
  return succeed(run(["--import", "tsweb/register", ...args], { dir, env }), args.join(" "));
}

/** Runs Node in a folder with the arguments of a server, on a free port, and waits until it listens. */
export function startNode(dir: string, args: readonly string[], env: Environment = {}): Promise<Running> {
  return listening(run(args, { dir, env }), args.join(" "));
}

/** Runs another program than this Node as a server, in a folder, on a free port, and waits until it listens. */
export function startProgram(
  program: string,
  args: readonly string[],
  where: { readonly dir: string; readonly env?: Environment },
): Promise<Running> {
  return listening(run(args, { env: {}, ...where, program }), `${program} ${args.join(" ")}`);
}

interface Process {
  readonly child: ChildProcess;
  output(): string;
}

interface Where {
  readonly dir: string;
  readonly env: Environment;
  /** What is run, where it is not this Node. */
  readonly program?: string;
}

function start(args: readonly string[], where: Where): Process {
  if (!existsSync(join(repository, "dist/cli/index.js"))) throw new Error("tsweb is not built. Run npm run build.");
  return run([join(repository, "bin/tsweb.js"), ...args], where);
}

function run(args: readonly string[], { dir, env, program = process.execPath }: Where): Process {
  // The test runner's own NODE_ENV and its like are not what a user has.
  const { NODE_ENV: _env, NODE_OPTIONS: _options, VITEST: _vitest, ...ours } = process.env;
  const child = spawn(program, args, {
    cwd: dir,
    env: { ...ours, HOST: "127.0.0.1", PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let written = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      written += text;
    });
  }
  return { child, output: () => written };
}

async function succeed({ child, output }: Process, what: string): Promise<string> {
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${what} ended with ${code}:\n${output()}`);
  return output();
}

/** Waits for the address that a server prints once it listens. */
async function listening({ child, output }: Process, what: string): Promise<Running> {
  const ended = once(child, "close");
  const address = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const [found] = /http:\/\/[\w.-]+:\d+/.exec(output()) ?? [];
      if (found) resolve(found);
    };
    child.stdout?.on("data", look);
    child.stderr?.on("data", look);
    ended.then(([code]) => reject(new Error(`${what} ended with ${code}:\n${output()}`)), reject);
  });
  return {
    address,
    output,
    signal: (signal) => child.kill(signal),
    ended: ended.then(([code, signal]) => code ?? signal),
    async stop() {
      child.kill("SIGTERM");
      const [code] = await ended;
      return code;
    },
  };
}
