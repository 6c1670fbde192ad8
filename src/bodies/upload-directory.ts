import { createHash } from "node:crypto";
import { readlinkSync, rmSync } from "node:fs";
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";

/** How the name of each process's directory begins. */
const PREFIX = "tsweb-upload-";

/** The directory of one process: the key of its host, its process id, and what `mkdtemp` adds. */
const NAME = new RegExp(`^${PREFIX}([0-9a-f]{12})-(\\d+)-\\w{6}$`);

/** How often a process marks its directory as in use. */
const HEARTBEAT_MS = 30_000;

/** How long the directory of a process of another host or container is kept after its last mark. */
const STALE_MS = 10 * 60_000;

/** The directories of this process, by the folder that they are in. They exist until the process ends. */
const ownDirectories = new Map<string, Promise<string>>();

/** The paths of the directories that exist. */
const ownPaths = new Set<string>();

/** Whether the directories of this process are marked as in use, and removed when it exits. */
let isMaintained = false;

/**
 * Returns the directory in which this process stores uploaded files. It is created on first use, and removed when the
 * process exits.
 *
 * Its name cannot be guessed and its mode is 0700 from the start, so that in a folder that all users share, such as
 * `/tmp`, nobody else can create it before, replace a file in it by a link, or read it.
 *
 * @param base the folder for it; created with mode 0700 if it is missing
 */
export async function uploadDirectory(base: string): Promise<string> {
  const existing = ownDirectories.get(base);
  if (existing) return existing;
  const directory = createDirectory(base);
  ownDirectories.set(base, directory);
  directory.catch(() => ownDirectories.delete(base)); // the next upload tries again
  return directory;
}

/** Forgets a directory of this process that somebody has removed: the next call of {@link uploadDirectory} creates one. */
export async function forgetUploadDirectory(base: string, path: string): Promise<void> {
  ownPaths.delete(path);
  // Another upload may have replaced it meanwhile.
  if ((await ownDirectories.get(base)) === path) ownDirectories.delete(base);
}

async function createDirectory(base: string): Promise<string> {
  await mkdir(base, { recursive: true, mode: 0o700 });
  const path = await mkdtemp(join(base, `${PREFIX}${await hostKey()}-${process.pid}-`));
  if (!isMaintained) {
    isMaintained = true;
    process.once("exit", removeOwnDirectories);
    setInterval(markInUse, HEARTBEAT_MS).unref();
  }
  ownPaths.add(path);
  return path;
}

function removeOwnDirectories(): void {
  for (const path of ownPaths) rmSync(path, { recursive: true, force: true });
}

/** Sets the times of the directories. An error is ignored: the next upload notices a directory that was removed. */
function markInUse(): void {
  const now = new Date();
  for (const path of ownPaths) void utimes(path, now, now).catch(() => undefined);
}

/**
 * Removes the directories of processes that ended without removing them, for example after `SIGKILL`. Those
 * of running processes stay: of this host by their process id, of another host or container by their last mark. When
 * unsure, a directory stays.
 *
 * @param base the folder of the directories; a missing one has none
 * @returns the names of the removed directories
 */
export async function removeLeftovers(base: string): Promise<readonly string[]> {
  const names = (await readdir(base).catch(() => [])).filter((name) => NAME.test(name));
  if (names.length === 0) return [];
  const isLeft = await Promise.all(
    names.map((name) => !ownPaths.has(join(base, name)) && isLeftover(join(base, name), name)),
  );
  const leftovers = names.filter((_, index) => isLeft[index]);
  await Promise.all(leftovers.map((name) => rm(join(base, name), { recursive: true, force: true })));
  return leftovers;
}

async function isLeftover(path: string, name: string): Promise<boolean> {
  const [, key, pid] = NAME.exec(name) ?? [];
  const stats = await lstat(path).catch(() => null);
  // A link, and a directory of another user, are not ours, whatever their name.
  if (!stats?.isDirectory() || stats.uid !== (process.getuid?.() ?? stats.uid)) return false;
  if (key === (await hostKey())) return !isRunning(Number(pid));
  return Date.now() - stats.mtimeMs > STALE_MS;
}

/** Returns whether a process of this host exists. A process of another user counts. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/**
 * Returns a key of the space of process ids that this process is in: of the host since its last start, and of the
 * container. Two containers may share a volume and have equal process ids.
 */
async function hostKey(): Promise<string> {
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  return createHash("sha256").update([hostname(), boot, pidNamespace()].join("\n")).digest("hex").slice(0, 12);
}

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return ""; // only Linux has it
  }
}
