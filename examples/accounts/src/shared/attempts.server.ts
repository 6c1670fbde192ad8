/**
 * How often somebody may try to sign in to one account: wherever the attempts come from, and
 * whether there is such an account or not.
 */
import { createHash } from "node:crypto";
import { RPCError } from "tsweb";
import { table } from "./database.server.ts";

/** What is tried; each is counted on its own. */
export type Kind = "password" | "code" | "link";

const MOST = 10;
const WINDOW_MS = 5 * 60_000;

const run = table(`
  CREATE TABLE IF NOT EXISTS attempts (
    kind    TEXT NOT NULL,
    account TEXT NOT NULL,
    at      INTEGER NOT NULL
  )`);

/**
 * Counts an attempt on an account. It is counted before it is known to be right or wrong, in one
 * statement: a hundred at the same moment are counted like a hundred in a row. What is refused
 * does not count, so that nobody is locked out for longer by trying.
 *
 * @throws RPCError `rate_limited` past ten in five minutes
 */
export async function attempt(kind: Kind, account: string): Promise<void> {
  const [key, now] = [keyOf(account), Date.now()];
  await run("DELETE FROM attempts WHERE at <= ?", [now - WINDOW_MS]);
  const { rowsAffected } = await run(
    `INSERT INTO attempts (kind, account, at) SELECT ?1, ?2, ?3
     WHERE (SELECT count(*) FROM attempts WHERE kind = ?1 AND account = ?2) < ${MOST}`,
    [kind, key, now],
  );
  if (rowsAffected === 0) {
    throw new RPCError("rate_limited", "That was tried too often. Wait five minutes, and try again.");
  }
}

/** Forgets the attempts on an account, after one that was right. */
export async function forgive(kind: Kind, account: string): Promise<void> {
  await run("DELETE FROM attempts WHERE kind = ? AND account = ?", [kind, keyOf(account)]);
}

/** As long for whatever a stranger types in: the table is not theirs to fill. */
function keyOf(account: string): string {
  return createHash("sha256").update(account).digest("hex");
}
