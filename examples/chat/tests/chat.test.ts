import { visitor } from "tsweb/testing";
import { expect, test } from "vitest";
import app from "../src/app.ts";
import type * as functions from "../src/room.server.ts";

/** Returns a client that has entered the room under a name. */
async function enter(name: string) {
  const user = visitor(app);
  await user.client<typeof functions>().enter(name);
  return user;
}

test("shows a message to everybody who enters the room", async () => {
  const [ada, grace] = [await enter("Ada"), await enter("Grace")];
  await ada.client<typeof functions>().send_message("0".repeat(32), " Hello, everybody ");
  expect((await grace.get("/room")).text).toContain("Hello, everybody");
});

test("refuses the name of the assistant, and one without a letter or a digit", async () => {
  await expect(enter("ASSISTANT")).rejects.toMatchObject({ code: "conflict" });
  await expect(enter("…")).rejects.toMatchObject({ code: "validation_error" });
});
