/**
 * The people in the room, in the database: everybody who has a visible page, or had one within the last minute.
 *
 * A visible page reports the presence of its user three times a minute. The time is stored per person, so several
 * pages of one person count as one.
 */
import type { Row } from "@libsql/client";
import { query } from "./database.server.ts";
import type { Person } from "./room-state.ts";

/** A person without a report for this time has left. */
const INACTIVE_AFTER_MS = 60_000;

/** Returns the people in the room, in the order of arrival. */
export async function list(): Promise<Person[]> {
  return (await query("SELECT * FROM people ORDER BY visit")).map(toPerson);
}

/** Adds a person, and returns them; `undefined` if somebody in the room has the name. */
export async function enter(id: string, name: string): Promise<Person | undefined> {
  const lowerName = name.toLowerCase();
  const rows = await query(
    `INSERT INTO people (id, name, lower_name, last_seen)
     SELECT ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM people WHERE lower_name = ?) RETURNING *`,
    ...[id, name, lowerName, Date.now(), lowerName],
  );
  return rows.map(toPerson)[0];
}

/** Records the presence of a person. Returns the person if they were not in the room before. */
export async function recordPresence(id: string, name: string): Promise<Person | undefined> {
  const updated = await query("UPDATE people SET last_seen = ? WHERE id = ? RETURNING id", Date.now(), id);
  if (updated.length > 0) return undefined;
  const sql = `INSERT INTO people (id, name, lower_name, last_seen) VALUES (?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING RETURNING *`;
  return (await query(sql, id, name, name.toLowerCase(), Date.now())).map(toPerson)[0];
}

/** Removes a person, and returns them; `undefined` if they were not in the room. */
export async function leave(id: string): Promise<Person | undefined> {
  return (await query("DELETE FROM people WHERE id = ? RETURNING *", id)).map(toPerson)[0];
}

/** Removes everybody without a recent report, and returns them. */
export async function removeInactive(): Promise<Person[]> {
  return (await query("DELETE FROM people WHERE last_seen < ? RETURNING *", Date.now() - INACTIVE_AFTER_MS)).map(
    toPerson,
  );
}

function toPerson(row: Row): Person {
  return { id: String(row.id), name: String(row.name), visit: Number(row.visit) };
}
