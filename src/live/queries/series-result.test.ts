import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { QueryPatchPart } from "../../protocol/index.ts";
import { createPatch } from "./series-result.ts";

/** What a page does with a patch. */
const applyPatch = (base: readonly unknown[], patch: readonly QueryPatchPart[]) =>
  patch.flatMap((part) => (Array.isArray(part) ? base.slice(part[0], part[1]) : [part]));

const rowsOf = (...ids: readonly number[]) => ids.map((id) => ({ id, title: `The title of card ${id}`, done: false }));
const patchOf = (from: unknown, to: unknown) => createPatch(JSON.stringify(from), JSON.stringify(to));
const cards = rowsOf(...Array.from({ length: 100 }, (_, i) => i));

describe("a patch", () => {
  it("has ranges of the old list around a row that has changed", () => {
    const changed = { id: 42, title: "Changed", done: true };
    expect(patchOf(cards, cards.with(42, changed))).toBe(`[[0,42],${JSON.stringify(changed)},[43,100]]`);
  });

  it.each<[string, unknown[], string]>([
    ["an insertion at the start", [{ id: -1 }, ...cards], '[{"id":-1},[0,100]]'],
    ["an insertion in the middle", cards.toSpliced(50, 0, { id: -1 } as never), '[[0,50],{"id":-1},[50,100]]'],
    ["an addition at the end", [...cards, { id: -1 }], '[[0,100],{"id":-1}]'],
    ["a deletion", cards.toSpliced(7, 1), "[[0,7],[8,100]]"],
    ["a move to the end", [...cards.slice(1), cards[0]], "[[1,100],[0,1]]"],
    ["an exchange", [cards[1], cards[0], ...cards.slice(2)], "[[1,2],[0,1],[2,100]]"],
    ["rows that occur twice", [cards[0], cards[0], ...cards], "[[0,1],[0,1],[0,100]]"],
  ])("describes %s", (_, to, expected) => {
    expect(patchOf(cards, to)).toBe(expected);
  });

  it("is not made of anything but lists whose new rows are objects", () => {
    const numbers = Array.from({ length: 100 }, (_, i) => i);
    for (const [from, to] of [
      [{ cards }, { cards: cards.slice(1) }],
      [cards, null],
      [null, cards],
      ["[", "[a"],
      [numbers, [...numbers, 100]],
      [numbers.map((n) => [n]), [...numbers.map((n) => [n]), [100]]],
      [cards, [...cards, "a text"]],
      [cards, [...cards, null]],
    ]) {
      expect(patchOf(from, to)).toBeNull();
    }
  });

  it("is not made if it is no shorter than the list", () => {
    expect(patchOf(cards, rowsOf(...Array.from({ length: 100 }, (_, i) => i + 1_000)))).toBeNull();
    expect(patchOf(cards, [])).toBeNull();
    expect(patchOf([{ id: 1 }], [{ id: 2 }])).toBeNull();
    expect(patchOf([], cards)).toBeNull();
  });

  it("applied to the old list gives the new one", () => {
    const row = fc.record({ id: fc.nat(12), text: fc.constantFrom("a", "ü😀", '"],[0,1]', "__proto__") });
    const list = fc.array(row, { maxLength: 24 });
    fc.assert(
      fc.property(list, list, fc.boolean(), (base, other, isEdit) => {
        // An edit of the base: a part of it, in another order, with new rows in between.
        const to = isEdit ? [...base.slice(3), ...other.slice(0, 2), ...base.slice(0, 3).reverse()] : other;
        const patch = patchOf(base, to);
        if (patch === null) return;
        expect(applyPatch(base, JSON.parse(patch))).toEqual(to);
        expect(patch.length).toBeLessThan(JSON.stringify(to).length);
      }),
      { numRuns: 2_000 },
    );
  });
});
