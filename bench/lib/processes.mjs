// Starts the measured servers in separate processes, each on one core, and kills them at the end.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { accessSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";

/** How long a server may take until it listens. */
const START_MS = 20_000;

const running = new Set();

/** Returns whether a program is on the path. */
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

const cores = availableParallelism();
const mayPin = process.platform === "linux" && cores > 1 && onPath("taskset");

/** The assignment of processes to cores, for the report. */
export const layout = mayPin ? "server on core 0, load on core 1 (taskset)" : "not pinned to cores";

/**
 * Pins a command to a core, so that the scheduler does not move it. With `null` as `core`, it may use all cores. Returns the
 * command unchanged if the system cannot pin processes.
 */
export function pinned(core, command, args) {
  return mayPin
    ? ["taskset", ["-c", core === null ? `0-${cores - 1}` : String(core), command, ...args]]
    : [command, args];
}

/** Runs work that sends requests from this process, on the core of the load. */
export async function onLoadCore(work) {
  const pinTo = (list) => mayPin && spawnSync("taskset", ["-apc", list, String(process.pid)], { stdio: "ignore" });
  pinTo("1");
  try {
    return await work();
  } finally {
    pinTo(`0-${cores - 1}`);
  }
}

/**
 * Starts a server and waits until it prints its address, as JSON with `address` or as `tsweb dev` does.
 *
 * @param options `core`: that of the load is 1; `files`: the wanted number of file descriptors, as far as the system allows it
 * @returns its address, its process id, and a function that stops it
 */
export async function startServer(args, { cwd, env = {}, core = 0, node = process.execPath, files } = {}) {
  const [command, commandArgs] = pinned(core, ...withFiles(files, node, args));
  const child = spawn(command, commandArgs, {
    cwd,
    env: { ...process.env, NODE_ENV: "production", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  killAtExit(child);
  const address = await firstAddress(child, args);
  return { address: address.replace("localhost", "127.0.0.1"), pid: child.pid, end: () => end(child) };
}

function withFiles(files, command, args) {
  if (files === undefined || process.platform === "win32") return [command, args];
  return ["sh", ["-c", `ulimit -n ${files} 2>/dev/null; exec "$0" "$@"`, command, ...args]];
}

/** Kills a process when this one exits. */
export function killAtExit(child) {
  running.add(child);
  child.once("exit", () => running.delete(child));
}

async function firstAddress(child, args) {
  const listening = new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const address = /(?:"address":"|ready at )(https?:[^"\s]+)/.exec(line)?.[1];
      if (address) resolve(address);
    });
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${args.join(" ")} exited with ${code} before it listened.`)));
  });
  const deadline = AbortSignal.timeout(START_MS);
  return Promise.race([
    listening,
    once(deadline, "abort").then(() => {
      throw new Error(`${args.join(" ")} did not listen within ${START_MS / 1000} s.`);
    }),
  ]);
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const deadline = setTimeout(() => child.kill("SIGKILL"), 2000);
  await exited;
  clearTimeout(deadline);
}

// No server outlives this process.
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

/** Returns the memory of a process, in KiB. */
export function residentKiB(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

/**
 * Returns the CPU time that a process has used with all its threads, in milliseconds; `null` on other systems than
 * Linux.
 */
export function cpuMs(pid) {
  try {
    // The program's name in brackets may contain anything; numbers follow it. A tick is 10 ms. @see proc(5)
    const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(/\) (?!.*\) )/s);
    const [user, system] = fields.split(" ").slice(11, 13).map(Number);
    return (user + system) * 10;
  } catch {
    return null;
  }
}
