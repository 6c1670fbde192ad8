/** Which user of a provider signs in to which account. */
import { createTable } from "../shared/database.server.ts";
import type { Profile } from "./providers.server.ts";

/** An account has at most one user of each provider: the address of a user who has left can be given to somebody else. */
const query = createTable(`
  CREATE TABLE IF NOT EXISTS identities (
    issuer  TEXT NOT NULL,
    subject TEXT NOT NULL,
    email   TEXT NOT NULL,
    PRIMARY KEY (issuer, subject),
    UNIQUE (issuer, email)
  )`);

/** Returns the address of the account that a user of a provider is linked to, or `undefined`. */
export async function findLinked({ issuer, subject }: Profile): Promise<string | undefined> {
  const { rows } = await query("SELECT email FROM identities WHERE issuer = ? AND subject = ?", [issuer, subject]);
  return rows[0] && String(rows[0].email);
}

/**
 * Links a user of a provider to an account.
 *
 * @returns `false` if either is linked already
 */
export async function link({ issuer, subject }: Profile, email: string): Promise<boolean> {
  const { rowsAffected } = await query(
    "INSERT INTO identities (issuer, subject, email) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    [issuer, subject, email],
  );
  return rowsAffected === 1;
}
