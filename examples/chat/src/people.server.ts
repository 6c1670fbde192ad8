/**
 * Who is here: whoever has the room before their eyes, or had it within the last minute.
 *
 * Every visible page of theirs says so three times a minute, and that is kept by person: of several
 * pages the last that is heard of counts.
 */
import type { Row } from "@libsql/client";
import { run } from "./database.server.ts";
import type { Person } from "./news.ts";

/** Who has not been heard of for so long has left. */
const AWAY_MS = 60_000;

/** Lists who is here, in the order they came. */
export async function all(): Promise<Person[]> {
  return (await run("SELECT * FROM people ORDER BY visit")).map(toPerson);
}

/** Lets somebody in under a name that nobody here goes by; gives nothing when somebody does. */
export async function enter(id: string, name: string): Promise<Person | undefined> {
  const folded = name.toLowerCase();
  const rows = await run(
    `INSERT INTO people (id, name, folded, seen)
     SELECT ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM people WHERE folded = ?) RETURNING *`,
    ...[id, name, folded, Date.now(), folded],
  );
  return rows.map(toPerson)[0];
}

/** Notes that somebody is here; gives them if they were not before. */
export async function note(id: string, name: string): Promise<Person | undefined> {
  const known = await run("UPDATE people SET seen = ? WHERE id = ? RETURNING id", Date.now(), id);
  if (known.length > 0) return undefined;
  const sql = `INSERT INTO people (id, name, folded, seen) VALUES (?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING RETURNING *`;
  return (await run(sql, id, name, name.toLowerCase(), Date.now())).map(toPerson)[0];
}

/** Lets somebody out; gives them if they were here. */
export async function leave(id: string): Promise<Person | undefined> {
  return (await run("DELETE FROM people WHERE id = ? RETURNING *", id)).map(toPerson)[0];
}

/** Lets all out who were not heard of for a minute; gives those. */
export async function leaveSilent(): Promise<Person[]> {
  return (await run("DELETE FROM people WHERE seen < ? RETURNING *", Date.now() - AWAY_MS)).map(toPerson);
}

function toPerson(row: Row): Person {
  return { id: String(row.id), name: String(row.name), visit: Number(row.visit) };
}
