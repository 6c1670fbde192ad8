/**
 * The process of a server of a test's own: killed as a crash would, started again, and gone when the test is.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Where programs are found, too, that Debian keeps where only the system's own user looks. */
export const ENVIRONMENT = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

const running = new Set<OwnProcess>();

/** Tests that crash leave no server behind. */
process.once("exit", () => {
  for (const each of running) each.killNow();
});

/** A process that runs, or did. */
export class OwnProcess {
  readonly #killAll: (child: ChildProcess) => void;
  #child: ChildProcess | undefined;

  /** @param killAll kills it, and what it started */
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

  /** Is this one from now on; the one before has ended. */
  become(child: ChildProcess): void {
    this.#child = child;
    running.add(this);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Ends it there and then, as a crash would. */
  async kill(): Promise<void> {
    running.delete(this);
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    this.#killAll(child);
    await ended;
  }

  /** Kills it and waits for nothing. */
  killNow(): void {
    if (this.#child) this.#killAll(this.#child);
  }
}

/**
 * Waits until a server writes something: that it is ready.
 *
 * @throws Error with what it wrote, when it ends before
 */
export async function untilWritten(child: ChildProcess, wanted: string): Promise<void> {
  let written = "";
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        written += text;
        if (written.includes(wanted)) resolve();
      });
    }
    child.once("error", (error) => reject(new Error(`${child.spawnfile} could not be started.`, { cause: error })));
    child.once("exit", () => reject(new Error(`${child.spawnfile} ended before it was ready:\n${written}`)));
  });
}
