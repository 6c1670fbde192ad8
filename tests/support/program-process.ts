/**
 * The process of a test's server. It can be killed and started again, and is killed when the test process exits.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";

/** Adds `/usr/sbin` to the path: Debian installs servers there, and other users do not have it on their path. */
export const PROGRAM_ENVIRONMENT = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

const runningProcesses = new Set<ProgramProcess>();

// If the test process crashes, its servers are killed too.
process.once("exit", () => {
  for (const running of runningProcesses) running.killNow();
});

/** The current process of a server. A restart replaces it. */
export class ProgramProcess {
  readonly #killAll: (child: ChildProcess) => void;
  #child: ChildProcess | undefined;

  /** @param killAll kills a process and those that it has started */
  constructor(
    killAll = (child: ChildProcess): void => {
      child.kill("SIGKILL");
    },
  ) {
    this.#killAll = killAll;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Sets the current process. The previous one must have exited. */
  setChild(child: ChildProcess): void {
    this.#child = child;
    runningProcesses.add(this);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Stops the process with SIGSTOP, and waits until all of its threads have stopped. */
  async pause(): Promise<void> {
    const { pid } = this;
    this.signal("SIGSTOP");
    while (pid !== undefined && isRunning(pid)) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Kills the process, and waits for its exit. */
  async kill(): Promise<void> {
    runningProcesses.delete(this);
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    this.#killAll(child);
    await exited;
  }

  /** Kills the process without waiting. */
  killNow(): void {
    if (this.#child) this.#killAll(this.#child);
  }
}

/** Returns whether any thread of a process is still running. */
function isRunning(pid: number): boolean {
  const states = readdirSync(`/proc/${pid}/task`).map((task) => readFileSync(`/proc/${pid}/task/${task}/stat`, "utf8"));
  return states.some((state) => !/\) [Tt] /.test(state));
}

/**
 * Waits until the output of a process contains a text, for example that the server is ready.
 *
 * @throws Error with its output, when it exits before
 */
export async function waitForOutput(child: ChildProcess, text: string): Promise<void> {
  let output = "";
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        output += chunk;
        if (output.includes(text)) resolve();
      });
    }
    child.once("error", (error) => reject(new Error(`${child.spawnfile} could not be started.`, { cause: error })));
    child.once("exit", () => reject(new Error(`${child.spawnfile} exited before it was ready:\n${output}`)));
  });
}
