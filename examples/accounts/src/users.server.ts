/** The users, in the database. */
import { createHash } from "node:crypto";
import type { Row } from "@libsql/client";
import { createTable } from "./shared/database.server.ts";

/** A registered user. */
export interface User {
  /** The primary key: trimmed and in lower case. */
  readonly email: string;
  readonly name: string;
  /** The hash of the password. */
  readonly hash: string;
  readonly roles: readonly string[];
  readonly registered: Date;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS users (
    email      TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    hash       TEXT NOT NULL,
    role       TEXT,
    registered TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
  )`;

const query = createTable(SCHEMA);

/** The maximal length of an address. @see RFC 3696, erratum 1690 */
export const MAX_EMAIL_CHARS = 254;

/** Returns an address in the form in which it is stored. */
export function normalise(email: string): string {
  return email.trim().toLowerCase();
}

/**
 * Returns whether a text has the form of an address. Only a mail to it could prove that it exists. White space and
 * control characters are rejected: a line break would forge a line of the log or a header of a mail.
 */
export function isAddress(text: string): boolean {
  return /^[^\s\p{Cc}@]+@[^\s\p{Cc}@]+$/u.test(text);
}

/** Returns what is wrong with a new password, or `null`. */
export function passwordProblem(password: string): string | null {
  return [...password].length < 8 ? "Choose a password of at least 8 characters." : null;
}

/** Returns a text that identifies the password of a user, and does not reveal its hash: another password has another one. */
export function fingerprint(hash: string): string {
  return createHash("sha256").update(hash).digest("base64url");
}

/** Returns the user with an address, or `undefined`. */
export async function find(email: string): Promise<User | undefined> {
  const { rows } = await query("SELECT * FROM users WHERE email = ?", [email]);
  return rows.map(toUser)[0];
}

/** Returns all users, newest first. */
export async function list(): Promise<User[]> {
  const { rows } = await query("SELECT * FROM users ORDER BY registered DESC, email");
  return rows.map(toUser);
}

/**
 * Stores a new user. If two users register one address at the same time, the primary key lets one of them succeed.
 *
 * @returns `false` if the address is registered already
 */
export async function add({ email, name, hash }: Pick<User, "email" | "name" | "hash">): Promise<boolean> {
  const sql = "INSERT INTO users (email, name, hash) VALUES (?, ?, ?) ON CONFLICT (email) DO NOTHING";
  const { rowsAffected } = await query(sql, [email, name, hash]);
  return rowsAffected === 1;
}

/**
 * Replaces the hash of a user's password.
 *
 * @returns `false` if it has changed since `user` was read: of two concurrent changes, one succeeds
 */
export async function changeHash({ email, hash }: User, newHash: string): Promise<boolean> {
  const { rowsAffected } = await query("UPDATE users SET hash = ? WHERE email = ? AND hash = ?", [
    newHash,
    email,
    hash,
  ]);
  return rowsAffected === 1;
}

/**
 * Makes a user an admin, from the next sign-in on.
 *
 * @returns `false` if the address is not registered
 */
export async function makeAdmin(email: string): Promise<boolean> {
  const { rowsAffected } = await query("UPDATE users SET role = 'admin' WHERE email = ?", [email]);
  return rowsAffected === 1;
}

function toUser(row: Row): User {
  return {
    email: String(row.email),
    name: String(row.name),
    hash: String(row.hash),
    roles: row.role === null ? [] : [String(row.role)],
    registered: new Date(String(row.registered)),
  };
}
