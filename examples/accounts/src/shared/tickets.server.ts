/**
 * Tickets: values that the server stores for one browser, for five minutes and one use. For example the challenge of a
 * passkey, or the account that has to enter a code. The browser has a random token in a cookie. The value is in the
 * database, under the hash of the token.
 */
import { createHash, randomBytes } from "node:crypto";
import { request } from "tsweb";
import { createTable } from "./database.server.ts";

/** The purpose of a ticket. Each kind has a cookie of its own. */
export type TicketKind = "code" | "passkey-add" | "passkey-use";

const TICKET_LIFETIME_SECONDS = 5 * 60;

const query = createTable(`
  CREATE TABLE IF NOT EXISTS tickets (
    key     TEXT PRIMARY KEY,
    value   TEXT NOT NULL,
    expires INTEGER NOT NULL
  )`);

/** Issues a ticket to the browser of the request, and replaces the one of the same kind. */
export async function issueTicket(kind: TicketKind, value: string): Promise<void> {
  const token = randomBytes(32).toString("base64url");
  await insert(ticketKey(kind, token), value, TICKET_LIFETIME_SECONDS);
  request.set_cookie(cookieName(kind), token, { max_age: TICKET_LIFETIME_SECONDS });
}

/** Returns the value of the browser's ticket without using it up; `null` if there is no valid ticket. */
export async function readTicket(kind: TicketKind): Promise<string | null> {
  const token = request.cookies[cookieName(kind)];
  if (!token) return null;
  const { rows } = await query("SELECT value FROM tickets WHERE key = ? AND expires > ?", [
    ticketKey(kind, token),
    Date.now(),
  ]);
  return rows[0] ? String(rows[0].value) : null;
}

/** Returns the value of the browser's ticket and deletes it. Of two concurrent calls, one gets the value. */
export async function takeTicket(kind: TicketKind): Promise<string | null> {
  const token = request.cookies[cookieName(kind)];
  if (!token) return null;
  request.set_cookie(cookieName(kind), "", { max_age: 0 });
  const { rows } = await query("DELETE FROM tickets WHERE key = ? AND expires > ? RETURNING value", [
    ticketKey(kind, token),
    Date.now(),
  ]);
  return rows[0] ? String(rows[0].value) : null;
}

/**
 * Marks a credential as used, for example a link or a code.
 *
 * @param seconds the remaining lifetime of the credential, at most
 * @returns `false` if it was used before
 */
export function markAsUsed(credential: string, seconds: number): Promise<boolean> {
  return insert(ticketKey("used", credential), "", seconds);
}

async function insert(key: string, value: string, seconds: number): Promise<boolean> {
  const now = Date.now();
  await query("DELETE FROM tickets WHERE expires <= ?", [now]);
  const { rowsAffected } = await query(
    "INSERT INTO tickets (key, value, expires) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
    [key, value, now + seconds * 1000],
  );
  return rowsAffected === 1;
}

/** Returns a hash, so that somebody who can read the database gets no usable token. */
function ticketKey(kind: TicketKind | "used", token: string): string {
  return createHash("sha256").update(`${kind} ${token}`).digest("hex");
}

function cookieName(kind: TicketKind): string {
  return `accounts_${kind}`;
}
