/**
 * The users, in libSQL: a file on this machine, or a server where `ACCOUNTS_DATABASE_URL` names one.
 */
import { mkdirSync } from "node:fs";
import { type Client, createClient, type ResultSet, type Row } from "@libsql/client";

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

let opened: Promise<Client> | undefined;

/** Opens the database on first use: importing this module touches nothing. A failure is tried again. */
function database(): Promise<Client> {
  opened ??= open().catch((error: unknown) => {
    opened = undefined;
    throw error;
  });
  return opened;
}

async function open(): Promise<Client> {
  const url = process.env.ACCOUNTS_DATABASE_URL || "file:.data/accounts.db";
  const authToken = process.env.ACCOUNTS_DATABASE_TOKEN;
  if (url.startsWith("file:.data/")) mkdirSync(".data", { recursive: true });
  // Another process may hold the file's lock for a moment: wait for it, 5 s at most.
  const client = createClient({ url, timeout: 5_000, ...(authToken && { authToken }) });
  await client.execute(SCHEMA);
  return client;
}

/** Closes the database, if it was opened; the next call opens it again. */
export async function close(): Promise<void> {
  const client = await opened;
  opened = undefined;
  client?.close();
}

/**
 * Runs one statement. What fails here is never the visitor's doing, so it leaves as a plain Error:
 * a TypeError, as `fetch` throws it, would be told to the caller as if their input were wrong.
 */
async function run(sql: string, args: string[] = []): Promise<ResultSet> {
  try {
    return await (await database()).execute({ sql, args });
  } catch (cause) {
    throw new Error("The database of users failed", { cause });
  }
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
