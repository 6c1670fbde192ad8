/** The registered passkeys, in the database. */
import type { Row } from "@libsql/client";
import { createTable } from "../shared/database.server.ts";

/** A registered passkey. */
export interface Passkey {
  /** The credential's id, in base64url. */
  readonly id: string;
  readonly email: string;
  /** The user handle: a random identifier of the account, in base64url. */
  readonly handle: string;
  /** The public key: an uncompressed point of P-256, 65 bytes. */
  readonly point: Uint8Array;
  readonly signCount: number;
  /** Whether the passkey is backed up, for example by a password manager. */
  readonly backedUp: boolean;
  readonly registered: Date;
  readonly used: Date | null;
}

const query = createTable(`
  CREATE TABLE IF NOT EXISTS passkeys (
    id         TEXT PRIMARY KEY,
    email      TEXT NOT NULL,
    handle     TEXT NOT NULL,
    point      BLOB NOT NULL,
    sign_count INTEGER NOT NULL,
    backed_up  INTEGER NOT NULL,
    registered INTEGER NOT NULL,
    used       INTEGER
  )`);

/** Returns the passkey with an id, or `undefined`. */
export async function find(id: string): Promise<Passkey | undefined> {
  const { rows } = await query("SELECT * FROM passkeys WHERE id = ?", [id]);
  return rows.map(toPasskey)[0];
}

/** Returns the passkeys of an account, newest first. */
export async function listPasskeys(email: string): Promise<Passkey[]> {
  const { rows } = await query("SELECT * FROM passkeys WHERE email = ? ORDER BY registered DESC, id", [email]);
  return rows.map(toPasskey);
}

/**
 * Stores a new passkey.
 *
 * @returns `false` if the id is registered already, with any account
 */
export async function add(passkey: Omit<Passkey, "registered" | "used">): Promise<boolean> {
  const { id, email, handle, point, signCount, backedUp } = passkey;
  const { rowsAffected } = await query(
    `INSERT INTO passkeys (id, email, handle, point, sign_count, backed_up, registered)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    [id, email, handle, point, signCount, backedUp, Date.now()],
  );
  return rowsAffected === 1;
}

/**
 * Records the use of a passkey.
 *
 * @param current the new counter and backup state
 * @returns `false` if the passkey was used since it was loaded: each value of the counter allows one sign-in
 */
export async function recordUse(passkey: Passkey, current: Pick<Passkey, "signCount" | "backedUp">): Promise<boolean> {
  const { rowsAffected } = await query(
    "UPDATE passkeys SET sign_count = ?, backed_up = ?, used = ? WHERE id = ? AND sign_count = ?",
    [current.signCount, current.backedUp, Date.now(), passkey.id, passkey.signCount],
  );
  return rowsAffected === 1;
}

/** Removes a passkey of an account, if it exists. */
export async function remove(email: string, id: string): Promise<void> {
  await query("DELETE FROM passkeys WHERE email = ? AND id = ?", [email, id]);
}

/** Removes all passkeys of an account. Returns their number. */
export async function removeAll(email: string): Promise<number> {
  const { rowsAffected } = await query("DELETE FROM passkeys WHERE email = ?", [email]);
  return rowsAffected;
}

function toPasskey(row: Row): Passkey {
  return {
    id: String(row.id),
    email: String(row.email),
    handle: String(row.handle),
    point: new Uint8Array(row.point as ArrayBuffer), // The column is a BLOB.
    signCount: Number(row.sign_count),
    backedUp: Boolean(row.backed_up),
    registered: new Date(Number(row.registered)),
    used: row.used === null ? null : new Date(Number(row.used)),
  };
}
