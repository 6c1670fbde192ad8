/** The database, in libSQL: a local file, or the server in `ACCOUNTS_DATABASE_URL`. */
import { mkdirSync } from "node:fs";
import { type Client, createClient, type InValue, type ResultSet } from "@libsql/client";

/** Runs one statement, with values for its question marks. */
export type Query = (sql: string, values?: readonly InValue[]) => Promise<ResultSet>;

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
  const url = process.env.ACCOUNTS_DATABASE_URL || "file:.data/accounts.db";
  const authToken = process.env.ACCOUNTS_DATABASE_TOKEN;
  if (url.startsWith("file:.data/")) mkdirSync(".data", { recursive: true });
  // Another process may hold the lock of the file: wait up to 5 s for it.
  return createClient({ url, timeout: 5_000, ...(authToken && { authToken }) });
}

/** Closes the database, if it is open. The next statement opens it again. */
export async function close(): Promise<void> {
  const opened = await client;
  client = undefined;
  opened?.close();
}

/**
 * Returns a function that runs statements on a table. It creates the table before the first statement.
 *
 * It throws a plain `Error` if the database fails. A `TypeError`, as `fetch` throws it, would be sent to callers as an
 * error in their arguments.
 *
 * @param schema a `CREATE TABLE IF NOT EXISTS` statement
 */
export function createTable(schema: string): Query {
  const initialized = new WeakSet<Client>();
  return async (sql, values = []) => {
    try {
      const opened = await connect();
      if (!initialized.has(opened)) await opened.execute(schema);
      initialized.add(opened);
      return await opened.execute({ sql, args: [...values] });
    } catch (cause) {
      throw new Error("The database of users failed", { cause });
    }
  };
}
