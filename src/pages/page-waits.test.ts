import { describe, expect, it } from "vitest";
import { pageSettings, renderPage } from "#test/render-page";
import { requestContext } from "#test/request-context";
import { redirect, runInContext } from "../http/index.ts";
import { adviseLater, waited } from "./page-waits.ts";

const pause = (ms: number) => new Promise<string>((resolve) => setTimeout(resolve, ms, "value"));

describe("waited", () => {
  it("returns what was awaited, and throws its error", async () => {
    const results = await runInContext(requestContext(), async () => [
      await waited(pause(1), "a", 1),
      waited("text", "b", 1),
      await waited(Promise.reject(new Error("no")), "c", 1)?.catch((error: Error) => error.message),
    ]);
    expect(results).toEqual(["value", "text", "no"]);
    expect(await waited(pause(1), "outside of a request", 1)).toBe("value");
  });

  it("calls `then` of a query builder once", async () => {
    let runs = 0;
    const query = {
      // biome-ignore lint/suspicious/noThenProperty: query builders have one
      then: (resolve: (rows: string[]) => void) => {
        runs++;
        resolve(["row"]);
      },
    };
    expect(await runInContext(requestContext(), async () => await waited(query, "query", 1))).toEqual(["row"]);
    expect(runs).toBe(1);
  });

  it("advises about the longest wait, from 300 ms on", async () => {
    const context = requestContext();
    await runInContext(context, async () => {
      await waited(pause(10), "short()", 3);
      expect(adviseLater(context, "src/a.server.tsx")).toBeUndefined();
      await Promise.all([waited(pause(320), "slow()", 4), waited(pause(5), "fast()", 5)]);
    });
    expect(adviseLater(context, "src/a.server.tsx")?.message).toMatch(
      /^This page waited 3\d\d ms for `slow\(\)` \(src\/a\.server\.tsx:4\): wrap it in <Later>, so that the rest of the page does not wait\.$/,
    );
  });
});

describe("the advice about a page", () => {
  const slow = async () => {
    await waited(pause(310), "slow()", 7);
    return "shown";
  };

  it("is logged once in development, and not in production", async () => {
    const { settings, logged } = pageSettings({ development: true });
    for (let visit = 0; visit < 2; visit++) await renderPage(slow, {}, settings);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain("for `slow()` (src/pages.server.tsx:7)");
    expect((await renderPage(slow)).logged).toEqual([]);
  });

  it("is not logged for a redirect, which needs what the page has awaited", async () => {
    const { settings, logged } = pageSettings({ development: true });
    await renderPage(() => slow().then(() => redirect("/x")), {}, settings);
    expect(logged).toEqual([]);
  });
});
