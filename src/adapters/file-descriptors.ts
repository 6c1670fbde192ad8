/**
 * The limit of open files, `ulimit -n`, which connections count towards. Without this module, a process at its limit
 * would be silent: Node closes the connections that it cannot accept and reports nothing, and the requests of the
 * others fail because no file and no connection to a database can be opened.
 */
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import type { Server } from "node:http";
import { devNull } from "node:os";
import type { Logger } from "../logging/index.ts";

/** A lower limit is logged as a warning. */
const RECOMMENDED_LIMIT = 4_096;

/** How often the process tries whether it can open a file. */
const CHECK_INTERVAL_MS = 1_000;

/** How long no connection must have been refused until the shortage counts as over. */
const RECOVERY_MS = 10_000;

const FIX =
  `Raise the limit to ${RECOMMENDED_LIMIT} or more: LimitNOFILE= of systemd, --ulimit nofile= of Docker, or ` +
  "ulimit -n of the shell.";

/** The use of file descriptors by a process, when it starts. */
export interface DescriptorUse {
  /** The maximum number of open files; infinite without a limit. */
  readonly limit: number;
  readonly open: number;
}

/**
 * Returns how many connections a server may have. Some descriptors stay free for files and for connections to
 * databases: an eighth of the limit, at least 32 and at most 256.
 */
export function maxConnectionsFor({ limit, open }: DescriptorUse): number {
  const reserve = Math.min(256, Math.max(32, Math.floor(limit / 8)));
  return Math.max(1, limit - open - reserve);
}

/** Returns the soft limit of open files from the text of `/proc/self/limits`; `null` if there is no such line. */
export function parseOpenFileLimit(limits: string): number | null {
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(limits) ?? [];
  if (soft === undefined) return null;
  return soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

/** Returns the use of file descriptors; `null` where it cannot be known, which is everywhere but on Linux. */
export function readDescriptorUse(): DescriptorUse | null {
  try {
    const limit = parseOpenFileLimit(readFileSync("/proc/self/limits", "utf8"));
    return limit === null ? null : { limit, open: readdirSync("/proc/self/fd").length };
  } catch {
    return null; // there is no /proc
  }
}

/** Logs a warning if the limit of open files is below {@link RECOMMENDED_LIMIT}. */
export function warnIfLimitIsLow(use: DescriptorUse | null, log: Logger): void {
  if (use === null || use.limit >= RECOMMENDED_LIMIT) return;
  const message = `This process may have only ${use.limit} open files and connections (ulimit -n). ${FIX}`;
  log.warn({ limit: use.limit }, message);
}

/**
 * Makes a listening server refuse connections before its process has no file descriptors left, see
 * {@link maxConnectionsFor}: it closes them at once. A shortage is logged once, with the fix, and so is its end. During a
 * shortage, idle connections are closed.
 *
 * A process that runs out of descriptors for another reason is detected within a second.
 */
export function guardFileDescriptors(server: Server, use: DescriptorUse | null, log: Logger): void {
  if (use !== null) server.maxConnections = maxConnectionsFor(use);
  let lastShortageAt: number | null = null;
  const onShortage = (reason: string) => {
    if (lastShortageAt === null) {
      const fields = { limit: use?.limit, maxConnections: server.maxConnections };
      log.error(fields, `File descriptors have run out: new connections are refused, ${reason}. ${FIX}`);
    }
    lastShortageAt = performance.now();
  };
  const check = () => {
    const error = tryToOpen();
    if (error !== null) onShortage(`files cannot be opened (${error})`);
    if (lastShortageAt === null) return;
    server.closeIdleConnections();
    if (performance.now() - lastShortageAt < RECOVERY_MS) return;
    lastShortageAt = null;
    log.info({}, "File descriptors are free again: connections are accepted");
  };
  server.on("drop", () => onShortage("the maximum number of connections is reached"));
  // Without a listener, a connection that cannot be accepted would end the process.
  server.on("error", (error: NodeJS.ErrnoException) => onShortage(`they cannot be accepted (${error.code})`));
  const timer = setInterval(check, CHECK_INTERVAL_MS).unref();
  server.once("close", () => clearInterval(timer));
}

/** Returns the code of the error if no file can be opened because descriptors have run out, otherwise `null`. */
function tryToOpen(): string | null {
  try {
    closeSync(openSync(devNull, "r"));
    return null;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return code === "EMFILE" || code === "ENFILE" ? code : null;
  }
}
