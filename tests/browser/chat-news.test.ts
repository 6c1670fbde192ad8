/**
 * What the chat example shows of news: the rule that a page can be told again what it shows already.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  flaw,
  MAX_TEXT,
  type Message,
  type News,
  NO_PLACE,
  type Room,
  type Shown,
  show,
  showMessage,
} from "../../examples/chat/src/news.ts";

const message = (place: number, over: Partial<Message> = {}): Message => ({
  id: `m${place}`,
  place,
  from: "ada",
  name: "Ada",
  text: `text ${place}`,
  sent: "2026-01-01T00:00:00.000Z",
  state: "said",
  ...over,
});

const room = (over: Partial<Room> = {}): Room => ({ messages: [], people: [], earlier: false, ...over });
const told = (start: Room, news: readonly News[]): Room => {
  const shown = structuredClone(start);
  for (const each of news) show(shown, each);
  return shown;
};
const tell = (place: number, over?: Partial<Message>): News => ({ kind: "message", message: message(place, over) });
const visit = (kind: "joined" | "left", id: string, visit: number): News => ({
  kind,
  person: { id, name: id, visit },
});

/** A day in the room: a message, an answer piece by piece, another in between, people who come and go. */
const answer = { id: "answer", from: "assistant" };
const DAY: readonly News[] = [
  visit("joined", "ada", 1),
  tell(1),
  visit("joined", "grace", 2),
  tell(2, { ...answer, text: "", state: "writing" }),
  { kind: "piece", id: "answer", at: 0, text: "It " },
  tell(3),
  { kind: "piece", id: "answer", at: 3, text: "depends" },
  visit("left", "ada", 1),
  { kind: "piece", id: "answer", at: 10, text: "." },
  tell(2, { ...answer, text: "It depends.", state: "stopped" }),
  visit("joined", "ada", 3),
  tell(4),
];

describe("show", () => {
  it("ends the same wherever the page was loaded, and however much of that it is told again", () => {
    const end = told(room(), DAY);
    expect(end.messages.map(({ text }) => text)).toEqual(["text 1", "It depends.", "text 3", "text 4"]);
    expect(end.people.map(({ id }) => id)).toEqual(["grace", "ada"]);
    const index = fc.nat({ max: DAY.length });
    fc.assert(
      fc.property(index, index, (one, other) => {
        const [from, loaded] = [Math.min(one, other), Math.max(one, other)];
        expect(told(told(room(), DAY.slice(0, loaded)), DAY.slice(from))).toEqual(end);
      }),
    );
  });

  it("takes nothing back from an answer, when its asker's stream brings late what the feed has brought", () => {
    const end = told(room(), DAY);
    for (const late of DAY.filter(({ kind }) => kind === "message" || kind === "piece")) {
      expect(told(end, [late])).toEqual(end);
    }
  });

  it("orders by place, whatever comes first", () => {
    const shuffled = fc.shuffledSubarray([1, 2, 3, 4, 5], { minLength: 5 });
    fc.assert(
      fc.property(shuffled, (places) => {
        const shown = told(
          room(),
          places.map((place) => tell(place)),
        );
        expect(shown.messages.map(({ place }) => place)).toEqual([1, 2, 3, 4, 5]);
      }),
    );
  });

  it("takes no message from before those it shows, while there are others between", () => {
    const shown = room({ messages: [message(10), message(11)], earlier: true });
    expect(told(shown, [tell(9)])).toEqual(shown);
    expect(told(shown, [tell(12)]).messages).toHaveLength(3);
    expect(told({ ...shown, earlier: false }, [tell(9)]).messages).toHaveLength(3);
  });

  it("keeps from an answer what would leave a hole in it, until the whole is there", () => {
    const writing = room({ messages: [message(1, { text: "It ", state: "writing" })] });
    expect(told(writing, [{ kind: "piece", id: "m1", at: 4, text: "depends" }])).toEqual(writing);
    expect(told(writing, [{ kind: "piece", id: "m1", at: 3, text: "depends" }]).messages[0]?.text).toBe("It depends");
    expect(told(writing, [{ kind: "piece", id: "m1", at: 2, text: " depends" }]).messages[0]?.text).toBe("It depends");
    expect(told(writing, [{ kind: "piece", id: "m0", at: 0, text: "lost" }])).toEqual(writing);
    expect(told(writing, [tell(1, { text: "It depends" })]).messages[0]).toMatchObject({ state: "said" });
  });

  it("lets nobody be sent away by the end of an earlier visit", () => {
    const here = told(room(), [visit("joined", "ada", 1), visit("joined", "ada", 5)]);
    expect(here.people).toEqual([{ id: "ada", name: "ada", visit: 5 }]);
    expect(told(here, [visit("left", "ada", 4)])).toEqual(here);
    expect(told(here, [visit("left", "ada", 5)]).people).toEqual([]);
  });
});

describe("showMessage", () => {
  const sending: Shown = { ...message(1), place: NO_PLACE, state: "sending" };

  it("shows one's own at once and last, then where it stands", () => {
    const shown = room({ messages: [message(1, { id: "other" })] });
    showMessage(shown, { ...sending, id: "mine" });
    show(shown, tell(2, { id: "another" }));
    expect(shown.messages.map(({ id }) => id)).toEqual(["other", "another", "mine"]);
    show(shown, tell(3, { id: "mine" }));
    show(shown, tell(4));
    expect(shown.messages.map(({ id, state }) => [id, state])).toEqual([
      ["other", "said"],
      ["another", "said"],
      ["mine", "said"],
      ["m4", "said"],
    ]);
  });

  it("calls failed what is not in the room, and nothing else", () => {
    const shown = room();
    showMessage(shown, sending);
    showMessage(shown, { ...sending, state: "failed" });
    expect(shown.messages).toMatchObject([{ state: "failed" }]);
    show(shown, tell(1));
    showMessage(shown, { ...sending, state: "failed" });
    expect(shown.messages).toEqual([message(1)]);
  });
});

describe("flaw", () => {
  it.each([
    ["", false],
    [" \n\t", false],
    ["x", true],
    ["x".repeat(MAX_TEXT - 1), true],
    ["x".repeat(MAX_TEXT), true],
    ["x".repeat(MAX_TEXT + 1), false],
  ])("of a text: %#", (text, isRight) => {
    expect(flaw(text) === undefined).toBe(isRight);
  });
});
