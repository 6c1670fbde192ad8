/** The database of the room, in libSQL: a local file, or the server in `CHAT_DATABASE_URL`. */
import { mkdirSync } from "node:fs";
import { type Client, createClient, type InValue, type Row } from "@libsql/client";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS messages (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id       TEXT NOT NULL UNIQUE,
    author   TEXT NOT NULL,
    name     TEXT NOT NULL,
    text     TEXT NOT NULL,
    state    TEXT NOT NULL,
    sent     TEXT NOT NULL,
    updated  INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS writing ON messages (updated) WHERE state = 'writing'`;

let client: Promise<Client> | undefined;

/** Returns the client. It connects on first use, and again after a failure. */
function connect(): Promise<Client> {
  client ??= open().catch((error: unknown) => {
    client = undefined;
    throw error;
  });
  return client;
}

async function open(): Promise<Client> {
  const url = process.env.CHAT_DATABASE_URL || "file:.data/chat.db";
  const authToken = process.env.CHAT_DATABASE_TOKEN;
  if (url.startsWith("file:.data/")) mkdirSync(".data", { recursive: true });
  const opened = createClient({ url, timeout: 5_000, ...(authToken && { authToken }) });
  await opened.executeMultiple(SCHEMA);
  return opened;
}

/**
 * Runs one statement, and returns its rows.
 *
 * @throws Error if the database fails. A `TypeError`, as `fetch` throws it, would be sent to callers as an error in
 *   their arguments.
 */
export async function query(sql: string, ...args: InValue[]): Promise<Row[]> {
  try {
    const { rows } = await (await connect()).execute({ sql, args });
    return rows;
  } catch (cause) {
    throw new Error("The room's database failed", { cause });
  }
}
