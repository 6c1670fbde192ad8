import { describe, expect, test } from "vitest";
import type { LiveHandle } from "../protocol/index.ts";
import { type Live, live } from "./live-value.ts";
import { optimistic } from "./optimistic.ts";

const handle: LiveHandle<string[]> = { query: "t", id: "i", value: [], v: "v" };

describe("live", () => {
  test("names itself when it is called outside of a view", () => {
    expect(() => live(handle)).toThrow("Call live() inside a view, at the top of its function");
  });

  test.each([
    [undefined, "a value of type undefined"],
    [null, "null"],
    [[], "an array"],
    ["board:1", "a value of type string"],
    [{ token: "t" }, "a value of type object"],
  ])("refuses %j, which live of a query does not return", (value, received) => {
    expect(() => live(value as unknown as LiveHandle)).toThrow(
      `live() needs what live() of a query returns, and received ${received}. Call it in the page, and pass its result to the ` +
        "view as a prop: `cards={await cards.live(board)}`. In the view, call live(cards).",
    );
  });
});

describe("optimistic", () => {
  test("refuses what live has not returned, and calls nothing", async () => {
    let isCalled = false;
    const call = () => {
      isCalled = true;
    };
    await expect(optimistic([] as unknown as Live<string[]>, () => {}, call)).rejects.toThrow(
      "optimistic() needs what live() has returned: const list = live(cards); optimistic(list, …).",
    );
    expect(isCalled).toBe(false);
  });
});
