/** What is published before the first application exists: in a file of its own, since a process has one first. */
import { expect, it, vi } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { publish } from "./index.ts";

it("publish warns once that it reaches no page while the process has no application", async () => {
  const print = vi.spyOn(console, "error").mockImplementation(() => undefined);
  await publish("room", 1);
  await publish("room", 2);
  const app = createTestApp({ empty: compiledServer("empty", () => null) });
  await publish("room", 3);
  await app.close();
  expect(print.mock.calls).toEqual([
    [
      expect.stringMatching(
        /^publish was called in a process without an application, so it reaches no page\. .*import src\/app\.ts/,
      ),
    ],
  ]);
});
