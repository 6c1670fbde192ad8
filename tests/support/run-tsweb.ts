/**
 * Runs the built command line of tsweb in a process of its own, as a user does.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { repository } from "./copy-example.ts";

/** Environment variables in addition to those of this process. `undefined` removes one. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A running server. */
export interface RunningServer {
  /** For example `http://localhost:43121`. */
  readonly address: string;
  readonly pid: number;
  /** Returns all output so far. */
  output(): string;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the exit code, or the signal that killed the process. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /**
   * Sends `SIGTERM` and waits for the exit.
   *
   * @returns the exit code
   */
  stop(): Promise<number | null>;
}

/** Runs `tsweb dev` in a project's folder on a free port, and waits until it listens. */
export function startDev(dir: string, env: Environment = {}): Promise<RunningServer> {
  return untilListening(start(["dev", dir], { dir, env }), "tsweb dev");
}

/** Serves the output of {@link build} on a free port, and waits until the server listens. */
export function startBuilt(dir: string, env: Environment = {}): Promise<RunningServer> {
  return startNode(dir, [join(dir, "dist/server.mjs")], env);
}

/** Does the same with `tsweb serve`, which loads the command line first: only for tests of the command. */
export function startServe(dir: string, env: Environment = {}): Promise<RunningServer> {
  return untilListening(start(["serve", join(dir, "dist")], { dir, env }), "tsweb serve");
}

/**
 * Runs `tsweb build` in a project's folder.
 *
 * @throws Error with all of its output, when it fails
 */
export async function build(dir: string): Promise<void> {
  await succeed(start(["build", dir], { dir, env: {} }), "tsweb build");
}

/**
 * Runs a command of `tsweb` in a folder, and waits for its exit.
 *
 * @returns its exit code and all of its output
 */
export async function runTsweb(
  dir: string,
  args: readonly string[],
  env: Environment = {},
): Promise<{ readonly code: number | null; readonly output: string }> {
  return finish(start(args, { dir, env }));
}

/**
 * Runs a program with Node in a folder, and waits for its exit.
 *
 * @returns its exit code and all of its output
 */
export async function runProgram(
  dir: string,
  args: readonly string[],
  env: Environment = {},
): Promise<{ readonly code: number | null; readonly output: string }> {
  return finish(run(args, { dir, env }));
}

async function finish({ child, output }: StartedProcess) {
  const [code]: (number | null)[] = await once(child, "close");
  return { code: code ?? null, output: output() };
}

/**
 * Runs a script of a project with `node --import tsweb/register`.
 *
 * @returns its output
 * @throws Error with its output, when it fails
 */
export function runScript(dir: string, args: readonly string[], env: Environment = {}): Promise<string> {
  return succeed(run(["--import", "tsweb/register", ...args], { dir, env }), args.join(" "));
}

/** Runs a program with Node in a folder, and waits for nothing. The caller has to end it. */
export function spawnNode(dir: string, args: readonly string[], env: Environment = {}): StartedProcess {
  return run(args, { dir, env });
}

/** Runs a server with Node in a folder on a free port, and waits until it listens. */
export function startNode(dir: string, args: readonly string[], env: Environment = {}): Promise<RunningServer> {
  return untilListening(run(args, { dir, env }), args.join(" "));
}

/** Runs a server with another program than this Node in a folder on a free port, and waits until it listens. */
export function startProgram(
  program: string,
  args: readonly string[],
  options: { readonly dir: string; readonly env?: Environment; readonly uid?: number },
): Promise<RunningServer> {
  return untilListening(run(args, { env: {}, ...options, program }), `${program} ${args.join(" ")}`);
}

/** A process that runs, or has ended. */
export interface StartedProcess {
  readonly child: ChildProcess;
  /** Returns all output so far. */
  output(): string;
}

interface RunOptions {
  readonly dir: string;
  readonly env: Environment;
  /** The program to run. Default: this Node. */
  readonly program?: string;
  /** The id of the user that the program runs as. Only root can choose one. */
  readonly uid?: number;
}

function start(args: readonly string[], options: RunOptions): StartedProcess {
  if (!existsSync(join(repository, "dist/cli/index.js"))) throw new Error("tsweb is not built. Run npm run build.");
  return run([join(repository, "bin/tsweb.js"), ...args], options);
}

/** The processes that run. A test whose hook fails or takes too long does not stop those that it has started. */
const running = new Set<ChildProcess>();

process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
process.once("SIGTERM", () => process.exit(1)); // the test runner sends it after such a test, and without a listener no "exit" follows

function run(args: readonly string[], { dir, env, uid, program = process.execPath }: RunOptions): StartedProcess {
  // A user's environment does not have the variables of the test runner.
  const { NODE_ENV: _env, NODE_OPTIONS: _options, VITEST: _vitest, ...inherited } = process.env;
  const child = spawn(program, args, {
    cwd: dir,
    // Without a drain, servers stop at once; those of the tests are behind no proxy.
    env: { ...inherited, HOST: "127.0.0.1", PORT: "0", WEB_DRAIN_SECONDS: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
  }
  return { child, output: () => text };
}

async function succeed({ child, output }: StartedProcess, command: string): Promise<string> {
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${command} exited with ${code}:\n${output()}`);
  return output();
}

/** Waits for the address that a server prints when it listens. */
async function untilListening({ child, output }: StartedProcess, command: string): Promise<RunningServer> {
  const exited = once(child, "close");
  const address = await new Promise<string>((resolve, reject) => {
    const check = () => {
      const [url] = /http:\/\/([\w.-]+|\[[\w:]+\]):\d+/.exec(output()) ?? [];
      if (url) resolve(url.replace("//127.0.0.1:", "//localhost:")); // browsers accept passkeys on localhost only
    };
    child.stdout?.on("data", check);
    child.stderr?.on("data", check);
    exited.then(([code]) => reject(new Error(`${command} exited with ${code}:\n${output()}`)), reject);
  });
  return {
    address,
    pid: child.pid ?? 0, // it listens, so it has one
    output,
    signal: (signal) => child.kill(signal),
    exited: exited.then(([code, signal]) => code ?? signal),
    async stop() {
      child.kill("SIGTERM");
      const [code] = await exited;
      return code;
    },
  };
}
