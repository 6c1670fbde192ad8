/**
 * The cards of a board, and the functions that change them: called by forms, and by drag and drop. Each stores the change, then
 * publishes that the board has changed, so that every page gets its cards again.
 */
import { publish, query, RPCError, server, session } from "tsweb";
import { z } from "zod";
import * as boards from "./boards.server.ts";
import type { ColumnId } from "./model.ts";

const channelOf = (board: string) => `board:${board}`;

export const cards_of = query({ auth_required: true, on: (board) => [channelOf(board)] }, (board: string) =>
  boards.cardsOf(board),
);

const title = z.string().trim().min(1, "Write what is to do.").max(200, "Use at most 200 letters.");

export const add_card = server(
  { auth_required: true, validate: { title } },
  async (board: string, column: ColumnId, title: string) => {
    await boards.insertCard({ board, column, title, author: session.require().sub });
    await publish(channelOf(board));
  },
);

export const move_card = server({ auth_required: true }, async (id: string, column: ColumnId) => {
  const moved = await boards.setColumn(id, column);
  if (!moved) throw new RPCError("not_found", "Somebody has removed this card.");
  await publish(channelOf(moved.board));
});

export const remove_card = server({ auth_required: true }, async (id: string) => {
  const removed = await boards.deleteCard(id);
  if (removed) await publish(channelOf(removed.board));
});
