/** Limits the attempts to sign in to one account, from any client, whether or not the account exists. */
import { createHash } from "node:crypto";
import { RPCError } from "tsweb";
import { createTable } from "./database.server.ts";

/** The kinds of attempts. Each is counted separately. */
export type AttemptKind = "password" | "code" | "link" | "reset" | "confirm";

const MAX_ATTEMPTS = 10;
const WINDOW_MS = 5 * 60_000;

const query = createTable(`
  CREATE TABLE IF NOT EXISTS attempts (
    kind    TEXT NOT NULL,
    account TEXT NOT NULL,
    at      INTEGER NOT NULL
  )`);

/**
 * Counts an attempt on an account. Call it before the attempt is checked: one statement counts and limits, so that
 * concurrent attempts are limited too. A rejected attempt does not count, so it does not prolong the wait.
 *
 * @throws RPCError `rate_limited` after ten attempts in five minutes
 */
export async function countAttempt(kind: AttemptKind, account: string): Promise<void> {
  const [key, now] = [accountKey(account), Date.now()];
  await query("DELETE FROM attempts WHERE at <= ?", [now - WINDOW_MS]);
  const { rowsAffected } = await query(
    `INSERT INTO attempts (kind, account, at) SELECT ?1, ?2, ?3
     WHERE (SELECT count(*) FROM attempts WHERE kind = ?1 AND account = ?2) < ${MAX_ATTEMPTS}`,
    [kind, key, now],
  );
  if (rowsAffected === 0) {
    throw new RPCError("rate_limited", "Too many attempts. Wait five minutes, and try again.");
  }
}

/** Deletes the attempts on an account, after a successful one. */
export async function clearAttempts(kind: AttemptKind, account: string): Promise<void> {
  await query("DELETE FROM attempts WHERE kind = ? AND account = ?", [kind, accountKey(account)]);
}

/** Returns a key of constant length, so that long input cannot fill the table. */
function accountKey(account: string): string {
  return createHash("sha256").update(account).digest("hex");
}
