/**
 * The users.
 */
import type { Row } from "@libsql/client";
import { table } from "./shared/database.server.ts";

/** A registered user. */
export interface User {
  /** The key: trimmed and in lower case. */
  readonly email: string;
  readonly name: string;
  /** The hashed password. */
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

const run = table(SCHEMA);

/** The longest that an address can be. @see RFC 3696, erratum 1690 */
export const MAX_EMAIL_CHARS = 254;

/** Writes an address as it is stored. */
export function normalise(email: string): string {
  return email.trim().toLowerCase();
}

/**
 * Answers whether a text may be an address; whether it is one, a mail alone can tell. White space and control
 * characters are refused: a line break would forge a line of the log, or of a mail's head.
 */
export function isAddress(text: string): boolean {
  return /^[^\s\p{Cc}@]+@[^\s\p{Cc}@]+$/u.test(text);
}

/** Gives the user of an address, or nothing. */
export async function find(email: string): Promise<User | undefined> {
  const { rows } = await run("SELECT * FROM users WHERE email = ?", [email]);
  return rows.map(toUser)[0];
}

/** Lists everyone, the newest first. */
export async function all(): Promise<User[]> {
  const { rows } = await run("SELECT * FROM users ORDER BY registered DESC, email");
  return rows.map(toUser);
}

/**
 * Stores a new user. The table's key decides: of two who register one address at the same moment,
 * one is stored.
 *
 * @returns false when the address is registered already
 */
export async function add({ email, name, hash }: Pick<User, "email" | "name" | "hash">): Promise<boolean> {
  const sql = "INSERT INTO users (email, name, hash) VALUES (?, ?, ?) ON CONFLICT (email) DO NOTHING";
  const { rowsAffected } = await run(sql, [email, name, hash]);
  return rowsAffected === 1;
}

/**
 * Makes a user an admin, from the next sign-in on.
 *
 * @returns false when nobody is registered under the address
 */
export async function makeAdmin(email: string): Promise<boolean> {
  const { rowsAffected } = await run("UPDATE users SET role = 'admin' WHERE email = ?", [email]);
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
