// Starts what is measured in processes of its own, each on one core, and ends all of it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";

/** How long a server has to say where it listens. */
const START_MS = 20_000;

const running = new Set();

/** Finds a program on the path. */
export function onPath(name) {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.some((folder) => {
    try {
      accessSync(join(folder, name));
      return true;
    } catch {
      return false;
    }
  });
}

const mayPin = process.platform === "linux" && availableParallelism() > 1 && onPath("taskset");

/** How the processes are laid out, for the report. */
export const layout = mayPin ? "server on core 0, load on core 1 (taskset)" : "not pinned to cores";

/** Puts a command on one core, where the system can and a core is named: a measurement must not wander. */
export function pinned(core, command, args) {
  return mayPin && core !== null ? ["taskset", ["-c", String(core), command, ...args]] : [command, args];
}

/**
 * Starts a server and waits until it says where it listens, in a line of JSON with `address` or as `tsweb dev` does.
 *
 * @returns its address, its process, and how to end it
 */
export async function startServer(args, { cwd, env = {}, core = 0 } = {}) {
  const [command, all] = pinned(core, process.execPath, args);
  const child = spawn(command, all, {
    cwd,
    env: { ...process.env, NODE_ENV: "production", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  const address = await firstAddress(child, args);
  return { address: address.replace("localhost", "127.0.0.1"), pid: child.pid, end: () => end(child) };
}

async function firstAddress(child, args) {
  const told = new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const address = /(?:"address":"|ready at )(https?:[^"\s]+)/.exec(line)?.[1];
      if (address) resolve(address);
    });
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${args.join(" ")} ended with ${code} before it listened.`)));
  });
  const deadline = AbortSignal.timeout(START_MS);
  return Promise.race([
    told,
    once(deadline, "abort").then(() => {
      throw new Error(`${args.join(" ")} did not listen within ${START_MS / 1000} s.`);
    }),
  ]);
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), 2000);
  await gone;
  clearTimeout(late);
}

// Whatever ends this process ends what it started.
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

/**
 * Gives the processor time that a process has used, all its threads together, in milliseconds; or
 * `null` where the system does not say (it does on Linux).
 */
export function cpuMs(pid) {
  try {
    // The name in brackets may hold anything; what follows it is numbers. A tick is 10 ms.
    const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(/\) (?!.*\) )/s);
    const [user, system] = fields.split(" ").slice(11, 13).map(Number);
    return (user + system) * 10;
  } catch {
    return null;
  }
}
