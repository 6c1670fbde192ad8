/**
 * What was said, as the database keeps it.
 */
import type { Row } from "@libsql/client";
import { run } from "./database.server.ts";
import type { Message } from "./news.ts";

/** How many messages are loaded at a time. */
const PAGE = 50;
/** An answer that has not grown for so long has lost its process. */
const SILENT_MS = 30_000;

/** Gives the last messages before a place, oldest first, and whether there are earlier ones. */
export async function before(place = Number.MAX_SAFE_INTEGER): Promise<{ messages: Message[]; earlier: boolean }> {
  const rows = await run("SELECT * FROM messages WHERE place < ? ORDER BY place DESC LIMIT ?", place, PAGE + 1);
  return { messages: rows.slice(0, PAGE).reverse().map(toMessage), earlier: rows.length > PAGE };
}

/** What is new of a message. */
type Draft = Pick<Message, "id" | "from" | "name" | "text" | "state">;

/**
 * Stores a message. One that is there already stays as it is, so whoever sends it again does no harm.
 *
 * @returns the message that is stored under the id, and whether it was there before
 */
export async function add({ id, from, name, text, state }: Draft): Promise<{ message: Message; isNew: boolean }> {
  const now = new Date();
  const added = await run(
    `INSERT INTO messages (id, author, name, text, state, sent, grown) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING RETURNING *`,
    ...[id, from, name, text, state, now.toISOString(), now.getTime()],
  );
  const [row] = added.length > 0 ? added : await run("SELECT * FROM messages WHERE id = ?", id);
  if (!row) throw new Error(`The message ${id} is neither new nor there`);
  return { message: toMessage(row), isNew: added.length > 0 };
}

/** Adds to an answer; false when it has ended meanwhile. */
export async function grow(id: string, text: string): Promise<boolean> {
  const sql = "UPDATE messages SET text = text || ?, grown = ? WHERE id = ? AND state = 'writing' RETURNING id";
  return (await run(sql, text, Date.now(), id)).length === 1;
}

/** Ends an answer; gives nothing when it had ended before. */
export async function end(id: string, state: "said" | "stopped"): Promise<Message | undefined> {
  const sql = "UPDATE messages SET state = ? WHERE id = ? AND state = 'writing' RETURNING *";
  return (await run(sql, state, id)).map(toMessage)[0];
}

/** Ends the answers that nobody writes any more, since their process was killed; gives those. */
export async function endSilent(): Promise<Message[]> {
  const sql = "UPDATE messages SET state = 'stopped' WHERE state = 'writing' AND grown < ? RETURNING *";
  return (await run(sql, Date.now() - SILENT_MS)).map(toMessage);
}

function toMessage(row: Row): Message {
  return {
    id: String(row.id),
    place: Number(row.place),
    from: String(row.author),
    name: String(row.name),
    text: String(row.text),
    sent: String(row.sent),
    state: row.state as Message["state"], // only this file writes it
  };
}
