/** The confirmed addresses: of each, somebody who receives its mail has proven that the account is theirs. */
import { createTable } from "../shared/database.server.ts";

const query = createTable(`
  CREATE TABLE IF NOT EXISTS confirmed (
    email TEXT PRIMARY KEY,
    at    INTEGER NOT NULL
  )`);

/** Returns whether the address of an account is confirmed. */
export async function isConfirmed(email: string): Promise<boolean> {
  const { rows } = await query("SELECT 1 FROM confirmed WHERE email = ?", [email]);
  return rows.length > 0;
}

/** Records that the address of an account is confirmed. */
export async function confirm(email: string): Promise<void> {
  await query("INSERT INTO confirmed (email, at) VALUES (?, ?) ON CONFLICT (email) DO NOTHING", [email, Date.now()]);
}
