import { type ChildProcess, spawn } from "node:child_process";
import inspector from "node:inspector";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { waitForEdit } from "./code-files.ts";
import { CONDITION_FLAG, isChildMessage, REPORT_DESCRIPTOR, STOP, type WatchdogReport } from "./messages.ts";

/** How long the child may take to begin to stop, in milliseconds. It cannot while its event loop is blocked. */
const BEGIN_STOP_MS = 2_000;

/** How long the child may take to stop, in milliseconds: `on_start` and `on_stop` have 2 seconds each, and Vite is closed. */
const STOP_MS = 6_000;

/** How long the child may take to stop until a message is printed, in milliseconds. */
const SLOW_STOP_MS = 500;

/** The extension is that of this module: `.js` in the package. */
const CHILD = fileURLToPath(new URL("./child.js", import.meta.url));

/**
 * Runs `tsweb dev` in a child process, which can be stopped and started again whatever the application does: an endless
 * loop, `process.exit()`, no memory left. Ctrl-C ends it within 2 seconds, or within 6 if it has begun to stop by then.
 *
 * With a debugger (`node --inspect`), it runs in this process: the debugger is attached here, and a breakpoint blocks the
 * application for longer.
 *
 * @param root the application's folder
 * @throws as `dev`, with a debugger
 */
export async function runDev(root: string): Promise<void> {
  if (inspector.url() !== undefined) return (await import("./dev.ts")).dev(root);
  const parent = new DevParent(root);
  process.on("exit", () => parent.kill()); // also after an error here: a blocked child would not notice it
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => parent.stop(signal));
  parent.start();
}

class DevParent {
  readonly #root: string;
  #child: ChildProcess | undefined;
  /** The port of the first child, which the next ones use too. */
  #port: number | undefined;
  /** Whether the child has sent that it stops, because of this process or of a signal that it received itself. */
  #childStops = false;
  #isStopping = false;
  /** Ends the wait for an edit; `undefined` while there is none. */
  #endWait: AbortController | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  start(): void {
    if (this.#isStopping) process.exit(0);
    const port = this.#port === undefined ? [] : [String(this.#port)];
    const child = spawn(process.execPath, [...process.execArgv, CONDITION_FLAG, CHILD, this.#root, ...port], {
      stdio: ["inherit", "inherit", "inherit", "ipc", "pipe"],
    });
    this.#child = child;
    this.#childStops = false;
    child.on("message", (message: unknown) => {
      if (!isChildMessage(message)) return;
      if (message.type === "tsweb:listening") this.#port = message.port;
      else this.#childStops = true;
    });
    child.once("error", (error) => exitWith(1, `tsweb dev could not start a process: ${error.message}`));
    child.once("exit", (code, signal) => this.#onExit(code, signal));
    readReports(child, (report) => this.#onReport(report));
  }

  /** Stops the child, and exits with it. A second time, kills it at once. */
  stop(signal: NodeJS.Signals): void {
    const child = this.#child;
    if (!child) process.exit(0);
    if (this.#isStopping) process.exit(statusOf(signal));
    this.#isStopping = true;
    if (child.connected) child.send(STOP, () => undefined); // it may have ended by itself
    setTimeout(() => console.error("\nStopping. Press Ctrl-C again to end at once."), SLOW_STOP_MS).unref();
    const giveUp = (ms: number) =>
      exitWith(statusOf(signal), `The application did not stop within ${ms / 1_000} seconds, and was killed.`);
    setTimeout(() => this.#childStops || giveUp(BEGIN_STOP_MS), BEGIN_STOP_MS).unref();
    setTimeout(giveUp, STOP_MS, STOP_MS).unref();
  }

  /** Kills the child, if there is one. */
  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  #onExit(code: number | null, signal: NodeJS.Signals | null): void {
    this.#child = undefined;
    this.#endWait?.abort();
    const isStarting = this.#port === undefined; // it has printed why it could not start, or was ended by Ctrl-C
    if (this.#isStopping || this.#childStops || isStarting) process.exit(code ?? statusOf(signal));
    this.#startAfterEdit();
    const reason = signal ? `signal ${signal}` : `exit code ${code}`;
    console.error(
      `\nThe application has ended the process of tsweb dev (${reason}): by process.exit(), or because no memory was left.\n` +
        "Save a file to start it again, or press Ctrl-C to stop.\n",
    );
  }

  #onReport({ isBlocked, location }: WatchdogReport): void {
    if (!isBlocked) {
      this.#endWait?.abort();
      console.error("The application responds again.");
      return;
    }
    this.#startAfterEdit();
    console.error(
      `\nThe application has not responded for 5 seconds${location ? `. It is running ${location}` : ""}.\n` +
        "Is this an endless loop, or a long computation? Save a file to start the application again, or press Ctrl-C to stop.\n",
    );
  }

  /** Waits for an edit, and then starts a new child. A child that still runs is killed. */
  #startAfterEdit(): void {
    this.#endWait?.abort();
    const wait = new AbortController();
    this.#endWait = wait;
    waitForEdit(this.#root, wait.signal, (file) => {
      this.#endWait = undefined;
      console.error(`${file} has changed. Starting the application again …`);
      if (!this.#child) return this.start();
      this.#child.removeAllListeners("exit").once("exit", () => this.start());
      this.#child.kill("SIGKILL");
    });
  }
}

function readReports(child: ChildProcess, onReport: (report: WatchdogReport) => void): void {
  const pipe = child.stdio[REPORT_DESCRIPTOR] as Readable; // a pipe of the child to this process
  let text = "";
  pipe.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (text + chunk).split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) onReport(JSON.parse(line));
  });
}

/** Returns the exit status of a process that a signal has ended, as shells have it: 130 after Ctrl-C. */
function statusOf(signal: NodeJS.Signals | null): number {
  return signal === null ? 1 : 128 + constants.signals[signal];
}

function exitWith(code: number, message: string): never {
  if (message) console.error(message);
  process.exit(code);
}
