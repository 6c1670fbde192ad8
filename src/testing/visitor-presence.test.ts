import { afterAll, describe, expect, it } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { presence, who } from "../live/index.ts";
import type { Feed, Presence } from "../protocol/index.ts";
import { visitor } from "./index.ts";

describe("a visitor with presence", () => {
  const here = compiledServer("here", () => presence("room", { name: "Ada" }));
  const people = compiledServer("people", async () => (await who("room")).map(({ user }) => user));
  const app = createTestApp({ here, people });
  afterAll(() => app.close());

  it("is present while it has a connection with the token", async () => {
    const ada = visitor(app);
    ada.login("ada");
    const { token } = (await ada.rpc("here")) as Presence;
    expect(await ada.rpc("people")).toEqual([]);
    const headers = { "content-type": "application/json" };
    const response = await ada.fetch("/__web/live", {
      method: "POST",
      headers,
      body: JSON.stringify({ tokens: [token] }),
    });
    await expect.poll(() => ada.rpc("people")).toEqual(["ada"]);
    await response.body?.cancel();
  });

  it.each([
    [{ token: "T1" }, "received what presence() returns. To be present, send its token with fetch"],
    [null, "received a value of type null. Return the feed from a server function"],
  ])("says what subscribe needs in place of %o", (value, message) => {
    expect(() => visitor(app).subscribe(value as unknown as Feed)).toThrow(message);
  });
});
