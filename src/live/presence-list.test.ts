import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PresenceMember } from "../backends/index.ts";
import type { Person, PresenceFrame } from "../protocol/index.ts";
import { diffFrame, Frame, fullFrame, listOf, memberValue } from "./presence-list.ts";

let ids = 0;

function memberOf(
  user: string | null,
  { id = `page${++ids}`, data = "null", issuedAt = 1_000, state = null as PresenceMember["state"] } = {},
): PresenceMember {
  const token = { id, user, data, issuedAt, channel: "board:1", tag: null, expiresAt: 2_000, expired: false };
  return { id, holder: "holder", value: memberValue(token), state };
}

const peopleOf = (members: readonly PresenceMember[]): Person[] => JSON.parse(fullFrame(listOf(members, false))).all;

/** What a page does with a frame. */
function apply(people: ReadonlyMap<string, Person>, { all, set = [], del = [] }: PresenceFrame): Map<string, Person> {
  const next = new Map(all?.map((person) => [person.id, person]) ?? people);
  for (const person of set) next.set(person.id, person);
  for (const id of del) next.delete(id);
  return next;
}

describe("listOf", () => {
  it("has one entry for each user, with the number of tabs, and one for each page of a signed-out client", () => {
    const members = [
      memberOf("bob"),
      memberOf("alice"),
      memberOf("bob"),
      memberOf(null, { id: "1" }),
      memberOf(null, { id: "2" }),
    ];
    expect(peopleOf(members)).toEqual([
      { id: "a:1", user: null, tabs: 1, data: null, state: null },
      { id: "a:2", user: null, tabs: 1, data: null, state: null },
      { id: "u:alice", user: "alice", tabs: 1, data: null, state: null },
      { id: "u:bob", user: "bob", tabs: 2, data: null, state: null },
    ]);
  });

  it("has the data that were issued last, and the state that was set last, in any order of the members", () => {
    const members = [
      memberOf("bob", { issuedAt: 1, data: '"old"', state: { json: '"typing"', order: 9 } }),
      memberOf("bob", { issuedAt: 2, data: '"new"', state: { json: '"idle"', order: 8 } }),
      memberOf("bob", { issuedAt: 0, data: '"oldest"' }),
    ];
    for (const order of [members, [...members].reverse()]) {
      expect(peopleOf(order)).toEqual([{ id: "u:bob", user: "bob", tabs: 3, data: "new", state: "typing" }]);
    }
  });

  it("chooses the same data in every process if two pages were issued in the same second", () => {
    const members = ['"b"', '"c"', '"a"'].map((data) => memberOf("bob", { data }));
    expect(peopleOf(members)).toEqual(peopleOf([...members].reverse()));
  });

  it("keeps a user apart from a signed-out client, whatever the user id is", () => {
    expect(peopleOf([memberOf("a:1"), memberOf(null, { id: "1" }), memberOf("")]).map(({ id }) => id)).toEqual([
      "a:1",
      "u:",
      "u:a:1",
    ]);
  });

  it("ignores members of another version of tsweb", () => {
    expect(peopleOf([{ ...memberOf("bob"), value: "bob" }, memberOf("alice")]).map(({ user }) => user)).toEqual([
      "alice",
    ]);
  });

  it("has a version that depends on the entries only, and on whether it is stale", () => {
    const [first, second] = [memberOf("alice"), memberOf("bob")];
    const { version } = listOf([first, second], false);
    expect(listOf([second, first], false).version).toBe(version);
    expect(listOf([first, second, memberOf("bob")], false).version).not.toBe(version);
    expect(listOf([first, { ...second, state: { json: "1", order: 1 } }], false).version).not.toBe(version);
    expect(listOf([first, second], true).version).not.toBe(version);
  });
});

describe("diffFrame", () => {
  it("leads from one list to another, for any two lists", () => {
    const member = fc.record({
      user: fc.constantFrom("a", "b", "c", null),
      id: fc.constantFrom("1", "2"),
      data: fc.constantFrom("1", "2"),
    });
    const members = fc.array(member, { maxLength: 6 });
    fc.assert(
      fc.property(members, members, fc.boolean(), (before, after, stale) => {
        const [from, to] = [before, after].map((list) => list.map(({ user, ...rest }) => memberOf(user, rest)));
        const frame: PresenceFrame = JSON.parse(diffFrame(listOf(from ?? [], false), listOf(to ?? [], stale)));
        const people = apply(apply(new Map(), { all: peopleOf(from ?? []) }), frame);
        expect(Object.fromEntries(people)).toEqual(
          Object.fromEntries(peopleOf(to ?? []).map((person) => [person.id, person])),
        );
        expect(frame.v).toBe(listOf(to ?? [], stale).version);
        expect(frame.stale).toBe(stale || undefined);
      }),
      { numRuns: 300 },
    );
  });

  it("contains only the entries that have changed", () => {
    const members = Array.from({ length: 100 }, (_, at) => memberOf(`user${at}`));
    const frame: PresenceFrame = JSON.parse(
      diffFrame(listOf(members, false), listOf([...members.slice(1), memberOf("new")], false)),
    );
    expect(frame.set?.map(({ user }) => user)).toEqual(["new"]);
    expect(frame.del).toEqual(["u:user0"]);
  });
});

describe("Frame", () => {
  it("is encoded once, as an event without an id", () => {
    const frame = new Frame("board:1", '{"v":"1","all":[]}');
    expect(Buffer.from(frame.event).toString()).toBe('event: presence\ndata: board:1\ndata: {"v":"1","all":[]}\n\n');
    expect(frame.event).toBe(frame.event);
  });
});
