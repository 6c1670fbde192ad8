/**
 * What the server keeps in mind for one browser, for some minutes and for one use: the challenge of
 * a passkey, the account that a code is asked for. The browser has a random number in a cookie; what
 * it stands for is in the database, under the number's hash.
 */
import { createHash, randomBytes } from "node:crypto";
import { request } from "tsweb";
import { table } from "./database.server.ts";

/** What a ticket is for. One of another kind is none. */
export type Kind = "code" | "passkey-add" | "passkey-use";

const TICKET_SECONDS = 5 * 60;

const run = table(`
  CREATE TABLE IF NOT EXISTS tickets (
    key     TEXT PRIMARY KEY,
    value   TEXT NOT NULL,
    expires INTEGER NOT NULL
  )`);

/** Hands a ticket to the browser that asks; one of the same kind that it had is lost to it. */
export async function hand(kind: Kind, value: string): Promise<void> {
  const number = randomBytes(32).toString("base64url");
  await put(keyOf(kind, number), value, TICKET_SECONDS);
  request.set_cookie(cookieOf(kind), number, { max_age: TICKET_SECONDS });
}

/** Gives what the browser's ticket stands for, and leaves it to be used; `null` without one. */
export async function look(kind: Kind): Promise<string | null> {
  const number = request.cookies[cookieOf(kind)];
  if (!number) return null;
  const { rows } = await run("SELECT value FROM tickets WHERE key = ? AND expires > ?", [
    keyOf(kind, number),
    Date.now(),
  ]);
  return rows[0] ? String(rows[0].value) : null;
}

/** Gives what the browser's ticket stands for, and spends it; of two at the same moment, one gets it. */
export async function take(kind: Kind): Promise<string | null> {
  const number = request.cookies[cookieOf(kind)];
  if (!number) return null;
  request.set_cookie(cookieOf(kind), "", { max_age: 0 });
  const { rows } = await run("DELETE FROM tickets WHERE key = ? AND expires > ? RETURNING value", [
    keyOf(kind, number),
    Date.now(),
  ]);
  return rows[0] ? String(rows[0].value) : null;
}

/**
 * Spends something that holds for some time by itself: a link, a code.
 *
 * @param seconds how long it holds at most
 * @returns false when it was spent before
 */
export function spend(what: string, seconds: number): Promise<boolean> {
  return put(keyOf("spent", what), "", seconds);
}

async function put(key: string, value: string, seconds: number): Promise<boolean> {
  const now = Date.now();
  await run("DELETE FROM tickets WHERE expires <= ?", [now]);
  const { rowsAffected } = await run(
    "INSERT INTO tickets (key, value, expires) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
    [key, value, now + seconds * 1000],
  );
  return rowsAffected === 1;
}

/** Whoever reads the database must not get a number that they could use. */
function keyOf(kind: Kind | "spent", number: string): string {
  return createHash("sha256").update(`${kind} ${number}`).digest("hex");
}

function cookieOf(kind: Kind): string {
  return `accounts_${kind}`;
}
