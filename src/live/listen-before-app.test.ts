/** Loops that begin before the first application of the process exists: in a file of its own, since a process has one first. */
import { expect, it } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { listen } from "./index.ts";

it("listen waits for the first application, and throws after the last one is closed", async () => {
  const messages = listen("room");
  const next = messages.next();
  const unused = listen("room", { from: "start" });
  const app = createTestApp({ empty: compiledServer("empty", () => null) });
  await messages.ready;
  await app.publish("room", 1);
  expect(await next).toEqual({ value: 1, done: false });
  expect(await unused.next()).toEqual({ value: 1, done: false });
  await app.close();
  expect(await messages.next()).toEqual({ value: undefined, done: true });
  expect(() => listen("room")).toThrow("The application is closed");
});
