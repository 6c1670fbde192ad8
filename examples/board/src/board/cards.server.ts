/** The functions that change cards: called by forms, and by drag and drop. Each stores the change, then publishes it. */
import { publish, RPCError, server, session } from "tsweb";
import { z } from "zod";
import * as boards from "./boards.server.ts";
import type { ColumnId } from "./model.ts";

const title = z.string().trim().min(1, "Write what is to do.").max(200, "Use at most 200 letters.");

export const add_card = server(
  { auth_required: true, validate: { title } },
  async (board: string, column: ColumnId, title: string) => {
    const author = session.require().sub;
    await publishCard(await boards.insertCard({ board, column, title, author }));
  },
);

export const move_card = server({ auth_required: true }, async (id: string, column: ColumnId) => {
  await publishCard(await boards.setColumn(id, column));
});

export const remove_card = server({ auth_required: true }, async (id: string) => {
  const removed = await boards.deleteCard(id);
  if (removed) await publish(`board:${removed.board}`, { type: "removed", id });
});

async function publishCard(stored: { id: string; board: string } | undefined): Promise<void> {
  const card = stored && (await boards.findCard(stored.id));
  if (!card) throw new RPCError("not_found", "Somebody has removed this card.");
  await publish(`board:${stored.board}`, { type: "changed", card });
}
