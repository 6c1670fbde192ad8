/**
 * The secrets of one-time codes. They cannot be hashed, since each code is computed from the secret. Somebody who can
 * read this table can compute the codes, but does not have the passwords.
 */
import { createTable } from "../shared/database.server.ts";

const query = createTable(`
  CREATE TABLE IF NOT EXISTS codes (
    email  TEXT PRIMARY KEY,
    secret BLOB NOT NULL,
    is_on  INTEGER NOT NULL DEFAULT 0
  )`);

/** Returns whether an account requires codes. */
export async function requiresCode(email: string): Promise<boolean> {
  const { rows } = await query("SELECT 1 FROM codes WHERE email = ? AND is_on = 1", [email]);
  return rows.length > 0;
}

/** Returns the secret of an account, either active or pending; `null` if there is none. */
export async function findSecret(email: string, state: "active" | "pending"): Promise<Uint8Array | null> {
  const { rows } = await query("SELECT secret FROM codes WHERE email = ? AND is_on = ?", [
    email,
    state === "active" ? 1 : 0,
  ]);
  const secret = rows[0]?.secret;
  return secret instanceof ArrayBuffer ? new Uint8Array(secret) : null;
}

/**
 * Stores a pending secret, and replaces an earlier pending one.
 *
 * @returns `false` if the account requires codes already
 */
export async function savePending(email: string, secret: Uint8Array): Promise<boolean> {
  const { rowsAffected } = await query(
    `INSERT INTO codes (email, secret) VALUES (?, ?)
     ON CONFLICT (email) DO UPDATE SET secret = excluded.secret WHERE is_on = 0`,
    [email, secret],
  );
  return rowsAffected === 1;
}

/** Activates the pending secret of an account. */
export async function activate(email: string): Promise<void> {
  await query("UPDATE codes SET is_on = 1 WHERE email = ?", [email]);
}

/** Deletes the secret of an account. Returns the number of secrets that it had. */
export async function remove(email: string): Promise<number> {
  const { rowsAffected } = await query("DELETE FROM codes WHERE email = ?", [email]);
  return rowsAffected;
}
