import { visitor } from "tsweb/testing";
import { expect, test } from "vitest";
import app from "../src/app.ts";
import type * as greetings from "../src/greetings.server.ts";

test("shows a form that asks for a name", async () => {
  const { status, text } = await visitor(app).get("/");
  expect(status).toBe(200);
  expect(text).toContain("Your name");
});

test("greets a user by name, and rejects an empty name", async () => {
  const { greet } = visitor(app).client<typeof greetings>();
  expect(await greet(" Ada ")).toBe("Hello Ada, from the server.");
  await expect(greet(" ")).rejects.toMatchObject({ code: "validation_error" });
});
