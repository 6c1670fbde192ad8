/** The boards and their cards, in the database. */
import { asc, eq, sql } from "drizzle-orm";
import { once } from "tsweb";
import { db } from "../database/database.server.ts";
import { boards, cards, users } from "../database/schema.server.ts";
import type { Card, ColumnId } from "./model.ts";

/** All boards, at most one query per request: the layout and the page show them. */
export const allBoards = once(() => db.select().from(boards).orderBy(asc(boards.name)));

export async function addBoard(name: string): Promise<string> {
  const [added] = await db.insert(boards).values({ name }).returning();
  if (!added) throw new Error("The database returned no row for a new board");
  return added.id;
}

export function cardsOf(board: string): Promise<Card[]> {
  return db
    .select({
      id: cards.id,
      column: cards.column,
      title: cards.title,
      author: { id: users.id, name: users.name, avatar: users.avatar },
    })
    .from(cards)
    .innerJoin(users, eq(users.id, cards.author))
    .where(eq(cards.board, board))
    .orderBy(asc(cards.position));
}

/** A position after all cards. It is computed in the statement that stores it, so two users never get the same one. */
const lastPosition = sql<number>`(SELECT coalesce(max(position), 0) + 1 FROM cards)`;

export async function insertCard(card: { board: string; column: ColumnId; title: string; author: string }) {
  const [added] = await db
    .insert(cards)
    .values({ ...card, position: lastPosition })
    .returning();
  return added;
}

export async function setColumn(id: string, column: ColumnId) {
  const [moved] = await db.update(cards).set({ column, position: lastPosition }).where(eq(cards.id, id)).returning();
  return moved;
}

export async function deleteCard(id: string) {
  const [deleted] = await db.delete(cards).where(eq(cards.id, id)).returning();
  return deleted;
}
