/**
 * The secrets of one-time codes. They are kept as they are, since every code is made of them:
 * whoever reads this table can make the codes, and still lacks the passwords.
 */
import { table } from "../shared/database.server.ts";

const run = table(`
  CREATE TABLE IF NOT EXISTS codes (
    email  TEXT PRIMARY KEY,
    secret BLOB NOT NULL,
    is_on  INTEGER NOT NULL DEFAULT 0
  )`);

/** Answers whether an account asks for codes. */
export async function isOn(email: string): Promise<boolean> {
  const { rows } = await run("SELECT 1 FROM codes WHERE email = ? AND is_on = 1", [email]);
  return rows.length > 0;
}

/** Gives the secret of an account: the one in use, or the one that is being set up. */
export async function secretOf(email: string, state: "on" | "set up"): Promise<Uint8Array | null> {
  const { rows } = await run("SELECT secret FROM codes WHERE email = ? AND is_on = ?", [email, state === "on" ? 1 : 0]);
  const secret = rows[0]?.secret;
  return secret instanceof ArrayBuffer ? new Uint8Array(secret) : null;
}

/**
 * Keeps the secret of an account that sets codes up, in place of one it did not switch on.
 *
 * @returns false when codes are on already
 */
export async function setUp(email: string, secret: Uint8Array): Promise<boolean> {
  const { rowsAffected } = await run(
    `INSERT INTO codes (email, secret) VALUES (?, ?)
     ON CONFLICT (email) DO UPDATE SET secret = excluded.secret WHERE is_on = 0`,
    [email, secret],
  );
  return rowsAffected === 1;
}

/** Switches on what was set up. */
export async function switchOn(email: string): Promise<void> {
  await run("UPDATE codes SET is_on = 1 WHERE email = ?", [email]);
}

/** Switches codes off, and forgets the secret. */
export async function remove(email: string): Promise<void> {
  await run("DELETE FROM codes WHERE email = ?", [email]);
}
