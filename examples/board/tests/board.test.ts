import { visitor } from "tsweb/testing";
import { expect, test } from "vitest";
import app from "../src/app.ts";
import type * as cards from "../src/board/cards.server.ts";
import type * as boards from "../src/board/pages.server.tsx";
import type * as users from "../src/users/sign-in.server.tsx";

/** Returns a client that is signed in as a new user. */
async function signUp(name: string) {
  const user = visitor(app);
  await user.client<typeof users>().sign_up(name, `${name}@team.example`, "correct horse");
  return user;
}

test("shows a card to all members", async () => {
  const [ada, grace] = [await signUp("ada"), await signUp("grace")];
  await ada.client<typeof boards>().create_board("Release");
  const path = ada.location ?? "";
  const board = path.split("/").at(-1) ?? "";
  await ada.client<typeof cards>().add_card(board, "todo", "  Write the changelog ");
  expect((await grace.get(path)).text).toContain("Write the changelog");
});

test("refuses cards of users who are signed out, and cards without a title", async () => {
  const add = visitor(app).client<typeof cards>().add_card("any", "todo", "Write");
  await expect(add).rejects.toMatchObject({ code: "unauthenticated" });
  const empty = (await signUp("lin")).client<typeof cards>().add_card("any", "todo", " ");
  await expect(empty).rejects.toMatchObject({ details: { parameter: "title", expected: "Write what is to do." } });
});
