/**
 * The database, in libSQL: a file on this machine, or a server where `ACCOUNTS_DATABASE_URL` names one.
 */
import { mkdirSync } from "node:fs";
import { type Client, createClient, type InValue, type ResultSet } from "@libsql/client";

/** Runs one statement on a table; its values stand for the question marks in it. */
export type Run = (sql: string, values?: readonly InValue[]) => Promise<ResultSet>;

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
  return createClient({ url, timeout: 5_000, ...(authToken && { authToken }) });
}

/** Closes the database, if it was opened; the next call opens it again. */
export async function close(): Promise<void> {
  const client = await opened;
  opened = undefined;
  client?.close();
}

/**
 * Gives the way to a table, which is made before the first statement where it is not there yet.
 *
 * What fails here is never the visitor's doing, so it leaves as a plain Error: a TypeError, as
 * `fetch` throws it, would be told to the caller as if their input were wrong.
 */
export function table(schema: string): Run {
  const made = new WeakSet<Client>();
  return async (sql, values = []) => {
    try {
      const client = await database();
      if (!made.has(client)) await client.execute(schema);
      made.add(client);
      return await client.execute({ sql, args: [...values] });
    } catch (cause) {
      throw new Error("The database of users failed", { cause });
    }
  };
}
