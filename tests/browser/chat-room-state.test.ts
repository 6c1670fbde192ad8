/** How the chat example applies events to the state of a page. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  applyEvent,
  applyMessage,
  findTextProblem,
  MAX_TEXT_LENGTH,
  type Message,
  NO_SEQUENCE,
  type RoomEvent,
  type RoomState,
  type ShownMessage,
} from "../../examples/chat/src/room-state.ts";

const message = (sequence: number, overrides: Partial<Message> = {}): Message => ({
  id: `m${sequence}`,
  sequence,
  from: "ada",
  name: "Ada",
  text: `text ${sequence}`,
  sent: "2026-01-01T00:00:00.000Z",
  state: "complete",
  ...overrides,
});

const room = (overrides: Partial<RoomState> = {}): RoomState => ({
  messages: [],
  hasEarlier: false,
  ...overrides,
});

/** Returns a copy of a state to which events were applied. */
const applyEvents = (initial: RoomState, events: readonly RoomEvent[]): RoomState => {
  const state = structuredClone(initial);
  for (const event of events) applyEvent(state, event);
  return state;
};

const messageEvent = (sequence: number, overrides?: Partial<Message>): RoomEvent => ({
  kind: "message",
  message: message(sequence, overrides),
});

/** A message, an answer in chunks, and messages in between. */
const answer = { id: "answer", from: "assistant" };
const EVENTS: readonly RoomEvent[] = [
  messageEvent(1),
  messageEvent(2, { ...answer, text: "", state: "writing" }),
  { kind: "chunk", id: "answer", offset: 0, text: "It " },
  messageEvent(3),
  { kind: "chunk", id: "answer", offset: 3, text: "depends" },
  { kind: "chunk", id: "answer", offset: 10, text: "." },
  messageEvent(2, { ...answer, text: "It depends.", state: "stopped" }),
  messageEvent(4),
];

describe("applyEvent", () => {
  it("has the same result for every point at which the page is loaded, and for any number of repeated events", () => {
    const end = applyEvents(room(), EVENTS);
    expect(end.messages.map(({ text }) => text)).toEqual(["text 1", "It depends.", "text 3", "text 4"]);
    const index = fc.nat({ max: EVENTS.length });
    fc.assert(
      fc.property(index, index, (first, second) => {
        const [feedStart, loadedUntil] = [Math.min(first, second), Math.max(first, second)];
        const loaded = applyEvents(room(), EVENTS.slice(0, loadedUntil));
        expect(applyEvents(loaded, EVENTS.slice(feedStart))).toEqual(end);
      }),
    );
  });

  it("ignores events of the answer's stream that arrive after the same events of the feed", () => {
    const end = applyEvents(room(), EVENTS);
    for (const late of EVENTS) {
      expect(applyEvents(end, [late])).toEqual(end);
    }
  });

  it("sorts messages by sequence, regardless of the order in which they arrive", () => {
    const shuffled = fc.shuffledSubarray([1, 2, 3, 4, 5], { minLength: 5 });
    fc.assert(
      fc.property(shuffled, (sequences) => {
        const state = applyEvents(
          room(),
          sequences.map((sequence) => messageEvent(sequence)),
        );
        expect(state.messages.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
      }),
    );
  });

  it("ignores a message before the first that is shown, if there are earlier messages that are not loaded", () => {
    const state = room({ messages: [message(10), message(11)], hasEarlier: true });
    expect(applyEvents(state, [messageEvent(9)])).toEqual(state);
    expect(applyEvents(state, [messageEvent(12)]).messages).toHaveLength(3);
    expect(applyEvents({ ...state, hasEarlier: false }, [messageEvent(9)]).messages).toHaveLength(3);
  });

  it("ignores a chunk of an answer if the text before it is missing", () => {
    const writing = room({ messages: [message(1, { text: "It ", state: "writing" })] });
    const textAfter = (offset: number, text: string) =>
      applyEvents(writing, [{ kind: "chunk", id: "m1", offset, text }]).messages[0]?.text;
    expect(applyEvents(writing, [{ kind: "chunk", id: "m1", offset: 4, text: "depends" }])).toEqual(writing);
    expect(textAfter(3, "depends")).toBe("It depends");
    expect(textAfter(2, " depends")).toBe("It depends");
    expect(applyEvents(writing, [{ kind: "chunk", id: "m0", offset: 0, text: "lost" }])).toEqual(writing);
    expect(applyEvents(writing, [messageEvent(1, { text: "It depends" })]).messages[0]).toMatchObject({
      state: "complete",
    });
  });
});

describe("applyMessage", () => {
  const sending: ShownMessage = { ...message(1), sequence: NO_SEQUENCE, state: "sending" };

  it("shows an unsent message last, and moves it to its place when it is stored", () => {
    const state = room({ messages: [message(1, { id: "other" })] });
    applyMessage(state, { ...sending, id: "mine" });
    applyEvent(state, messageEvent(2, { id: "another" }));
    expect(state.messages.map(({ id }) => id)).toEqual(["other", "another", "mine"]);
    applyEvent(state, messageEvent(3, { id: "mine" }));
    applyEvent(state, messageEvent(4));
    expect(state.messages.map(({ id, state }) => [id, state])).toEqual([
      ["other", "complete"],
      ["another", "complete"],
      ["mine", "complete"],
      ["m4", "complete"],
    ]);
  });

  it("marks a message as failed only if it is not stored", () => {
    const state = room();
    applyMessage(state, sending);
    applyMessage(state, { ...sending, state: "failed" });
    expect(state.messages).toMatchObject([{ state: "failed" }]);
    applyEvent(state, messageEvent(1));
    applyMessage(state, { ...sending, state: "failed" });
    expect(state.messages).toEqual([message(1)]);
  });
});

describe("findTextProblem", () => {
  it.each([
    ["rejects an empty text", "", false],
    ["rejects white space", " \n\t", false],
    ["accepts one character", "x", true],
    ["accepts a text of one character less than the maximum", "x".repeat(MAX_TEXT_LENGTH - 1), true],
    ["accepts a text of the maximal length", "x".repeat(MAX_TEXT_LENGTH), true],
    ["rejects a text over the maximal length", "x".repeat(MAX_TEXT_LENGTH + 1), false],
  ])("%s", (_title, text, isValid) => {
    expect(findTextProblem(text) === undefined).toBe(isValid);
  });
});
