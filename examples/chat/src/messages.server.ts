/** The messages of the room, in the database. */
import type { Row } from "@libsql/client";
import { query } from "./database.server.ts";
import type { Message } from "./room-state.ts";

/** The number of messages that are loaded at a time. */
const PAGE_SIZE = 50;

/** An answer that was not extended for this time is abandoned: its process was killed. */
const ABANDONED_AFTER_MS = 30_000;

/** Returns the last messages before a sequence number, oldest first, and whether there are earlier ones. */
export async function listBefore(
  sequence = Number.MAX_SAFE_INTEGER,
): Promise<{ messages: Message[]; hasEarlier: boolean }> {
  const sql = "SELECT * FROM messages WHERE sequence < ? ORDER BY sequence DESC LIMIT ?";
  const rows = await query(sql, sequence, PAGE_SIZE + 1);
  return { messages: rows.slice(0, PAGE_SIZE).reverse().map(toMessage), hasEarlier: rows.length > PAGE_SIZE };
}

/** A message that is not stored yet. */
type NewMessage = Pick<Message, "id" | "from" | "name" | "text" | "state">;

/**
 * Stores a message. If its id is stored already, nothing changes, so a message can be sent again.
 *
 * @returns the stored message with this id, and whether it is new
 */
export async function add({ id, from, name, text, state }: NewMessage): Promise<{ message: Message; isNew: boolean }> {
  const now = new Date();
  const inserted = await query(
    `INSERT INTO messages (id, author, name, text, state, sent, updated) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING RETURNING *`,
    ...[id, from, name, text, state, now.toISOString(), now.getTime()],
  );
  const [row] = inserted.length > 0 ? inserted : await query("SELECT * FROM messages WHERE id = ?", id);
  if (!row) throw new Error(`The message ${id} could neither be inserted nor found`);
  return { message: toMessage(row), isNew: inserted.length > 0 };
}

/** Appends text to an answer. Returns `false` if the answer has ended. */
export async function append(id: string, text: string): Promise<boolean> {
  const sql = "UPDATE messages SET text = text || ?, updated = ? WHERE id = ? AND state = 'writing' RETURNING id";
  return (await query(sql, text, Date.now(), id)).length === 1;
}

/** Ends an answer, and returns it; `undefined` if it had ended before. */
export async function finish(id: string, state: "complete" | "stopped"): Promise<Message | undefined> {
  const sql = "UPDATE messages SET state = ? WHERE id = ? AND state = 'writing' RETURNING *";
  return (await query(sql, state, id)).map(toMessage)[0];
}

/** Ends all abandoned answers, and returns them. */
export async function stopAbandoned(): Promise<Message[]> {
  const sql = "UPDATE messages SET state = 'stopped' WHERE state = 'writing' AND updated < ? RETURNING *";
  return (await query(sql, Date.now() - ABANDONED_AFTER_MS)).map(toMessage);
}

function toMessage(row: Row): Message {
  return {
    id: String(row.id),
    sequence: Number(row.sequence),
    from: String(row.author),
    name: String(row.name),
    text: String(row.text),
    sent: String(row.sent),
    state: row.state as Message["state"], // Only this file writes the column.
  };
}
