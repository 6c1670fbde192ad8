/**
 * The limit of open files, `ulimit -n`, which connections count towards. Without this module, a process at its limit
 * would be silent: Node closes the connections that it cannot accept and reports nothing, and the requests of the
 * others fail because no file and no connection to a database can be opened.
 */
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import type { Server } from "node:http";
import { devNull } from "node:os";
import type { Logger } from "../logging/index.ts";
import { type Connections, connectionsAboveShare } from "./connections.ts";

/** A lower limit is logged as a warning. */
const RECOMMENDED_LIMIT = 4_096;

/** How often the process tries whether it can open a file. */
const CHECK_INTERVAL_MS = 1_000;

/** How long no connection must have been refused until the shortage counts as over. */
const RECOVERY_MS = 10_000;

/** How often a client that exceeds its share is logged at most. */
const LOG_INTERVAL_MS = 60_000;

const MAXIMUM_REACHED = "the maximum number of connections is reached";

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

/** How {@link guardFileDescriptors} guards a server. */
export interface GuardOptions {
  readonly use: DescriptorUse | null;
  readonly log: Logger;
  /** The connections of the server, if their addresses are those of clients: not behind a proxy. */
  readonly connections?: Connections | undefined;
}

/**
 * Makes a listening server refuse connections before its process has no file descriptors left, see
 * {@link maxConnectionsFor}: it closes them at once. A shortage is logged once, with the fix, and so is its end. During a
 * shortage, idle connections are closed, and those of requests that are still arriving above the share of a client, see
 * {@link connectionsAboveShare}.
 *
 * A process that runs out of descriptors for another reason is detected within a second.
 */
export function guardFileDescriptors(server: Server, { use, log, connections }: GuardOptions): void {
  if (use !== null) server.maxConnections = maxConnectionsFor(use);
  const closeAboveShare = connections && shareConnections(server, connections, log);
  let lastShortageAt: number | null = null;
  const onShortage = (reason: string) => {
    if (lastShortageAt === null) {
      const fields = { limit: use?.limit, maxConnections: server.maxConnections };
      log.error(fields, `File descriptors have run out: new connections are refused, ${reason}. ${FIX}`);
    }
    lastShortageAt = performance.now();
    closeAboveShare?.();
  };
  const check = () => {
    const error = tryToOpen();
    if (error !== null) onShortage(`files cannot be opened (${error})`);
    // A worker passes further connections to another one, without the event.
    server.getConnections((_, count) => {
      if (count >= (server.maxConnections ?? Number.POSITIVE_INFINITY)) onShortage(MAXIMUM_REACHED);
    });
    if (lastShortageAt === null) return;
    server.closeIdleConnections();
    if (performance.now() - lastShortageAt < RECOVERY_MS) return;
    lastShortageAt = null;
    log.info({}, "File descriptors are free again: connections are accepted");
  };
  server.on("drop", () => onShortage(MAXIMUM_REACHED));
  // Without a listener, a connection that cannot be accepted would end the process.
  server.on("error", (error: NodeJS.ErrnoException) => onShortage(`they cannot be accepted (${error.code})`));
  const timer = setInterval(check, CHECK_INTERVAL_MS).unref();
  server.once("close", () => clearInterval(timer));
}

/**
 * Returns a function that closes the connections of each client above its share. It looks at all connections, so a call has no effect
 * until those that were closed have freed their descriptors, or, if there were none, for {@link CHECK_INTERVAL_MS}.
 */
function shareConnections(server: Server, connections: Connections, log: Logger): () => void {
  let checkedAt = Number.NEGATIVE_INFINITY;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - checkedAt < CHECK_INTERVAL_MS) return;
    checkedAt = now;
    const excess = connectionsAboveShare(connections.arriving(), server.maxConnections ?? Number.POSITIVE_INFINITY);
    for (const socket of excess.flatMap((each) => each.connections)) socket.destroy();
    const [first] = excess;
    if (first === undefined) return;
    setImmediate(() => {
      checkedAt = Number.NEGATIVE_INFINITY;
    });
    if (now - loggedAt < LOG_INTERVAL_MS) return;
    loggedAt = now;
    log.warn(
      { address: first.client, count: first.connections.length },
      "One client held a large part of all connections with requests that had not arrived: the oldest were closed",
    );
  };
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
