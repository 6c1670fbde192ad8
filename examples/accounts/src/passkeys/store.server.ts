/**
 * The passkeys that users have registered.
 */
import type { Row } from "@libsql/client";
import { table } from "../shared/database.server.ts";

/** A registered passkey. */
export interface Passkey {
  /** The credential's id, in base64url. */
  readonly id: string;
  readonly email: string;
  /** What the authenticator knows the account by: random, so that it says nothing. In base64url. */
  readonly handle: string;
  /** The public key: 65 bytes. */
  readonly point: Uint8Array;
  readonly signCount: number;
  /** Whether it is kept in a password manager's account, beside the device. */
  readonly backedUp: boolean;
  readonly registered: Date;
  readonly used: Date | null;
}

const run = table(`
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

/** Gives the passkey of an id, or nothing. */
export async function find(id: string): Promise<Passkey | undefined> {
  const { rows } = await run("SELECT * FROM passkeys WHERE id = ?", [id]);
  return rows.map(toPasskey)[0];
}

/** Lists the passkeys of an account, the newest first. */
export async function of(email: string): Promise<Passkey[]> {
  const { rows } = await run("SELECT * FROM passkeys WHERE email = ? ORDER BY registered DESC, id", [email]);
  return rows.map(toPasskey);
}

/**
 * Stores a new passkey.
 *
 * @returns false when its id is registered already, with whatever account
 */
export async function add(passkey: Omit<Passkey, "registered" | "used">): Promise<boolean> {
  const { id, email, handle, point, signCount, backedUp } = passkey;
  const { rowsAffected } = await run(
    `INSERT INTO passkeys (id, email, handle, point, sign_count, backed_up, registered)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    [id, email, handle, point, signCount, backedUp, Date.now()],
  );
  return rowsAffected === 1;
}

/**
 * Notes that a passkey was used.
 *
 * @param now what its counter stands at, and whether it is backed up
 * @returns false when it was used elsewhere since it was looked up: one counter is good for one sign-in
 */
export async function use(passkey: Passkey, now: Pick<Passkey, "signCount" | "backedUp">): Promise<boolean> {
  const { rowsAffected } = await run(
    "UPDATE passkeys SET sign_count = ?, backed_up = ?, used = ? WHERE id = ? AND sign_count = ?",
    [now.signCount, now.backedUp, Date.now(), passkey.id, passkey.signCount],
  );
  return rowsAffected === 1;
}

/** Removes a passkey of an account. One that is not there is as good as removed. */
export async function remove(email: string, id: string): Promise<void> {
  await run("DELETE FROM passkeys WHERE email = ? AND id = ?", [email, id]);
}

function toPasskey(row: Row): Passkey {
  return {
    id: String(row.id),
    email: String(row.email),
    handle: String(row.handle),
    point: new Uint8Array(row.point as ArrayBuffer), // the column is a BLOB
    signCount: Number(row.sign_count),
    backedUp: Boolean(row.backed_up),
    registered: new Date(Number(row.registered)),
    used: row.used === null ? null : new Date(Number(row.used)),
  };
}
