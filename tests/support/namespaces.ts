/**
 * Processes as containers run them: as process 1, with a file system that cannot be written, as another user. They need
 * Linux namespaces, which root can create, and other users where the system permits it.
 */
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { type Environment, type RunningServer, startProgram } from "./run-tsweb.ts";

/** How a server runs. */
export interface NamespaceOptions {
  readonly dir: string;
  readonly env?: Environment;
  /** The one folder that can be written, in memory; all others can only be read. Default: as this process */
  readonly writable?: string;
  /** Whether the server is process 1 of its own process ids. */
  readonly isProcessOne?: boolean;
}

const isRoot = process.getuid?.() === 0;

/** The server of a built application, and the signals of its process. */
export interface NamespacedServer extends RunningServer {
  /** Sends a signal to the server, not to the program that has created the namespaces. */
  signalServer(signal: NodeJS.Signals): Promise<void>;
}

/** Runs `dist/server.mjs` in namespaces of its own, and waits until it listens. */
export async function startInNamespaces(options: NamespaceOptions): Promise<NamespacedServer> {
  const { dir, env = {}, writable, isProcessOne = false } = options;
  const server = await startProgram(
    "unshare",
    [
      ...(isRoot ? [] : ["--map-root-user"]),
      "--mount",
      ...(isProcessOne ? ["--pid", "--fork", "--kill-child", "--mount-proc"] : []),
      ...["sh", "-e", "-c", `${writable === undefined ? "" : READ_ONLY}exec "$NODE" dist/server.mjs`],
    ],
    { dir, env: { ...env, NODE: process.execPath, DIR: dir, WRITABLE: writable } },
  );
  return {
    ...server,
    async signalServer(signal) {
      process.kill(isProcessOne ? await childOf(server.pid) : server.pid, signal);
    },
  };
}

/** The project may be on another file system than `/`. A read-only mount is one of this namespace only. */
const READ_ONLY = `
mount -t tmpfs -o size=64m tmpfs "$WRITABLE"
chmod 1777 "$WRITABLE"
mount --rbind "$DIR" "$DIR"
mount -o remount,bind,ro "$DIR"
mount -o remount,bind,ro /
`;

/** Returns the id of the only process that a process has started. */
async function childOf(pid: number): Promise<number> {
  for (;;) {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ");
    if (child) return Number(child);
    await pause(5);
  }
}
