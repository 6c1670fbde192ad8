import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { TextRoot } from "#test/text-root";
import type { LiveHandle } from "../../protocol/index.ts";
import { type Live, live } from "../live-value.ts";
import { optimistic } from "../optimistic.ts";
import { reportWarning } from "./report.ts";

vi.mock("./report.ts", () => ({ reportWarning: vi.fn() }));
vi.mock("../live.ts", () => ({ restart: () => {}, watchPage: () => {} }));

interface Card {
  id: string;
  tags: string[];
}

const warnings = () => vi.mocked(reportWarning).mock.calls.map(([warning]) => warning);

let count = 0;

/** Renders a view that shows a value, and returns what `live` has returned there. */
function listOf<Value>(value: Value): Live<Value> {
  const handle: LiveHandle<Value> = { query: "t", id: `query ${count++}`, value, v: "v" };
  let list: Live<Value> | undefined;
  new TextRoot().renderComponent(() => {
    list = live(handle);
    return JSON.stringify(list.value);
  });
  if (!list) throw new Error("The view was not rendered.");
  return list;
}

const cards = (): Card[] => [
  { id: "b", tags: [] },
  { id: "a", tags: ["x"] },
];

/** Changes a value by `optimistic`, whose call is open. */
const change = <Value>(value: Value, fn: (copy: Value) => unknown) =>
  void optimistic(listOf(value), fn, () => new Promise(() => {}));

beforeEach(() => {
  vi.useFakeTimers();
  vi.mocked(reportWarning).mockClear();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the value of a query in development", () => {
  test.each<[string, (value: Card[]) => unknown]>([
    ["sorts", (value) => value.sort()],
    ["adds a row", (value) => value.push({ id: "c", tags: [] })],
    ["changes a row", (value) => Object.assign(value[0] as Card, { id: "c" })],
    ["changes a list in a row", (value) => value[1]?.tags.pop()],
  ])("is frozen: a view that %s throws", (_, fn) => {
    const { value } = listOf(cards());
    expect(() => fn(value)).toThrow(TypeError);
    expect(value).toEqual(cards());
  });

  test("can be copied and changed then, and drafts belong to the application", () => {
    const list = listOf(cards());
    expect([...list.value].sort((a, b) => a.id.localeCompare(b.id))[0]?.id).toBe("a");
    const card: Card = { id: "c", tags: [] };
    void optimistic(
      list,
      (copy) => copy.push(card),
      () => new Promise(() => {}),
    );
    expect(list.value).toHaveLength(3);
    card.tags.push("later");
    expect(() => list.value[0]?.tags.push("y")).not.toThrow();
  });

  test("may be no object", () => {
    expect(listOf(null).value).toBeNull();
    expect(listOf("text").value).toBe("text");
  });
});

describe("a function of optimistic that changes nothing", () => {
  test("is reported with the location of its call if it returns a new list", () => {
    change(cards(), (list) => [...list, { id: "c", tags: [] }]);
    expect(warnings().map(({ message }) => message)).toEqual([
      "The function that changes the value for optimistic() has returned a new list, and has not changed the one that it " +
        "received. Its result is ignored, so nothing is shown. Change the list that it receives: `(cards) => cards.push(card)`, or " +
        "`(cards) => cards.splice(0, cards.length, ...rows)` to replace all rows.",
    ]);
    expect(warnings()[0]?.stack).toContain("live-checks.test.ts");
  });

  test.each<[string, () => void, string]>([
    ["filters", () => change(cards(), (list) => list.filter(({ id }) => id !== "a")), "has returned a new list"],
    ["maps", () => change(cards(), (list) => list.map((card) => ({ ...card, id: "z" }))), "has returned a new list"],
    [
      "copies an object",
      () => change({ title: "a" }, (game) => ({ ...game, title: "b" })),
      "has returned a new object",
    ],
    ["is async", () => change(cards(), async (list) => (await null) ?? list.pop()), "is async and has changed nothing"],
  ])("is reported if it %s", (_, run, message) => {
    run();
    expect(warnings().map(({ message }) => message)).toEqual([expect.stringContaining(message)]);
  });

  test.each<[string, () => void]>([
    ["a number, from push", () => change(cards(), (list) => list.push({ id: "c", tags: [] }))],
    ["removed rows, from splice", () => change(cards(), (list) => list.splice(0, 1))],
    ["no removed rows, from splice", () => change(cards(), (list) => list.splice(0, 0))],
    ["the list itself, which is sorted already", () => change([1, 2], (list) => list.sort())],
    ["a row that is as it was", () => change(cards(), (list) => Object.assign(list[0] as Card, { id: "b" }))],
    ["nothing", () => change(cards(), () => {})],
    ["a promise after a change", () => change(cards(), async (list) => list.pop())],
  ])("is not reported if it returns %s", (_, run) => {
    run();
    expect(warnings()).toEqual([]);
  });
});
