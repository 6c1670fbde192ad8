import { NotFound, page, presence, redirect, server, session } from "tsweb";
import { z } from "zod";
import { currentUser } from "../users/users.server.ts";
import { Board } from "./board.tsx";
import { addBoard, allBoards } from "./boards.server.ts";
import { cards_of } from "./cards.server.ts";
import type { Member } from "./model.ts";

export const create_board = server(
  { auth_required: true, validate: { name: z.string().trim().min(1, "Give it a name.").max(60) } },
  async (name: string) => redirect(board.href({ id: await addBoard(name) })),
);

export const home = page("/", { title: "Boards" }, async () => {
  session.require(); // a signed-out user is redirected to the page `sign_in` of new App
  const boards = await allBoards();
  return (
    <section class="panel">
      <h1>Boards</h1>
      <ul>
        {boards.map(({ id, name }) => (
          <li key={id}>
            <a href={board.href({ id })}>{name}</a>
          </li>
        ))}
      </ul>
      {boards.length === 0 && <p>There is no board yet. Create the first one.</p>}
      <form action={create_board} class="stack">
        <label>
          Name <input name="name" maxLength={60} required />
        </label>
        <button type="submit" class="main">
          Create a board
        </button>
      </form>
    </section>
  );
});

export const board = page("/boards/:id", async ({ id }) => {
  session.require();
  const found = (await allBoards()).find((board) => board.id === id);
  if (!found) throw new NotFound("There is no such board.");
  const { name = "", avatar = null } = (await currentUser()) ?? {};
  const here = await presence<Member>(`board:${id}`, { name, avatar });
  return (
    <>
      <h1>{found.name}</h1>
      <Board id={id} cards={await cards_of.live(id)} here={here} />
    </>
  );
});
