/**
 * What the processes of `tsweb dev` send to each other: the parent, which holds the terminal, and the child, which runs
 * Vite and the application.
 */

/** The file descriptor on which the watchdog of the child writes its reports, one line of JSON each. */
export const REPORT_DESCRIPTOR = 4;

/** A report of the watchdog: whether the child's event loop is blocked, and in which function if that is known. */
export interface WatchdogReport {
  readonly isBlocked: boolean;
  /** File, line and column, relative to the project's folder, such as `src/guests.server.ts:12:5`. */
  readonly location?: string;
}

/** From the child: it listens on a port, or it stops because of a signal. */
export type ChildMessage =
  | { readonly type: "tsweb:listening"; readonly port: number }
  | { readonly type: "tsweb:stopping" };

/** Returns whether a message is one of the child. The application may send others, such as `"ready"` for PM2. */
export function isChildMessage(message: unknown): message is ChildMessage {
  if (typeof message !== "object" || message === null || !("type" in message)) return false;
  return message.type === "tsweb:stopping" || (message.type === "tsweb:listening" && "port" in message);
}

/** From the parent: stop. */
export const STOP = "tsweb:stop";

/**
 * The condition under which `package.json` exports the bundles for `tsweb dev`. Its process loads the package, for itself and
 * for the application, from a few files instead of 370.
 */
export const CONDITION = "tsweb-dev";

/** The option of Node for the process of `tsweb dev`. */
export const CONDITION_FLAG = `--conditions=${CONDITION}`;
