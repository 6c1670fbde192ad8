/**
 * The room's database, libSQL: a file on this machine, or a server where `CHAT_DATABASE_URL` names one.
 */
import { mkdirSync } from "node:fs";
import { type Client, createClient, type InValue, type Row } from "@libsql/client";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS messages (
    place  INTEGER PRIMARY KEY AUTOINCREMENT,
    id     TEXT NOT NULL UNIQUE,
    author TEXT NOT NULL,
    name   TEXT NOT NULL,
    text   TEXT NOT NULL,
    state  TEXT NOT NULL,
    sent   TEXT NOT NULL,
    grown  INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS writing ON messages (grown) WHERE state = 'writing';
  CREATE TABLE IF NOT EXISTS people (
    visit  INTEGER PRIMARY KEY AUTOINCREMENT,
    id     TEXT NOT NULL UNIQUE,
    name   TEXT NOT NULL,
    folded TEXT NOT NULL,
    seen   INTEGER NOT NULL
  )`;

let opened: Promise<Client> | undefined;

/** Opens it on first use: importing this module touches nothing. A failure is tried again. */
function database(): Promise<Client> {
  opened ??= open().catch((error: unknown) => {
    opened = undefined;
    throw error;
  });
  return opened;
}

async function open(): Promise<Client> {
  const url = process.env.CHAT_DATABASE_URL || "file:.data/chat.db";
  const authToken = process.env.CHAT_DATABASE_TOKEN;
  if (url.startsWith("file:.data/")) mkdirSync(".data", { recursive: true });
  const client = createClient({ url, timeout: 5_000, ...(authToken && { authToken }) });
  await client.executeMultiple(SCHEMA);
  return client;
}

/**
 * Runs one statement, and gives its rows.
 *
 * @throws Error of ours: a TypeError, as `fetch` throws it, would be told to the caller as their mistake
 */
export async function run(sql: string, ...args: InValue[]): Promise<Row[]> {
  try {
    const { rows } = await (await database()).execute({ sql, args });
    return rows;
  } catch (cause) {
    throw new Error("The room's database failed", { cause });
  }
}
