import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyText } from "#test/any-text";
import { createEventParser, type ServerSentEvent } from "./live.ts";
import { readLines } from "./stream.ts";

/** Parses a stream that arrives in these chunks. */
async function eventsOf(pieces: readonly Uint8Array[]): Promise<ServerSentEvent[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const read = createEventParser();
  const events: ServerSentEvent[] = [];
  for await (const lines of readLines(body)) {
    for (const line of lines) {
      const event = read(line);
      if (event) events.push(event);
    }
  }
  return events;
}

const bytes = (text: string) => new TextEncoder().encode(text);

/** Parses the whole text with the algorithm of the standard, as a reference. */
function referenceOf(text: string): ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  // An event that is not ended by an empty line is dropped.
  for (const [, block = ""] of text.matchAll(/((?:[^\n]+\n)*)\n/g)) {
    const event: ServerSentEvent = { data: [] };
    for (const line of block.split("\n").slice(0, -1)) {
      const colon = line.indexOf(":");
      const name = colon < 0 ? line : line.slice(0, colon);
      const rest = colon < 0 ? "" : line.slice(colon + 1);
      const value = rest.startsWith(" ") ? rest.slice(1) : rest;
      if (name === "data") event.data.push(value);
      else if (name === "id" || name === "event" || name === "retry") event[name] = value;
    }
    events.push(event);
  }
  return events;
}

/** Returns an event with only the fields of the standard. */
function standardFields({ event, id, retry, data }: ServerSentEvent): ServerSentEvent {
  return {
    data,
    ...(event === undefined ? {} : { event }),
    ...(id === undefined ? {} : { id }),
    ...(retry === undefined ? {} : { retry }),
  };
}

describe("the parser of event streams", () => {
  test("reads the example of docs/protocol.md 10.5", async () => {
    const text =
      "retry: 2731\n\n" +
      'id: P1,P2\ndata: room:1\ndata: {"json":1}\n\n' +
      "id: P1,-\nevent: gap\ndata: room:2\ndata: trimmed\n\n" +
      "event: ping\ndata: 1\n\n";
    expect(await eventsOf([bytes(text)])).toEqual([
      { retry: "2731", data: [] },
      { id: "P1,P2", data: ["room:1", '{"json":1}'] },
      { id: "P1,-", event: "gap", data: ["room:2", "trimmed"] },
      { event: "ping", data: ["1"] },
    ]);
  });

  test("returns no event for an incomplete one at the end", async () => {
    const text = "id: P1\ndata: room:1\ndata: 1\n\nid: P2\ndata: room:1\ndata: 2\n";
    expect(await eventsOf([bytes(text)])).toEqual([{ id: "P1", data: ["room:1", "1"] }]);
    expect(await eventsOf([bytes(text.slice(0, -3))])).toEqual([{ id: "P1", data: ["room:1", "1"] }]);
  });

  test("accepts comments, values without a space, fields without a value, and any character in data", async () => {
    const text = ":\n: so\ndata:room:1\ndata:  two\ndata\ndata: a\u2028b\u2029c\rd\u0000e\n\n";
    const [event] = await eventsOf([bytes(text)]);
    expect(event?.data).toEqual(["room:1", " two", "", "a\u2028b\u2029c\rd\u0000e"]);
  });

  test("returns the same events as the algorithm of the standard, however the stream is split", async () => {
    const value = anyText({ maxLength: 12 }).map((text) => text.replaceAll("\n", " "));
    const line = fc.oneof(
      fc
        .tuple(
          fc.constantFrom("data", "id", "event", "retry", "", "date", "__proto__"),
          fc.constantFrom(":", ": "),
          value,
        )
        .map((parts) => parts.join("")),
      fc.constantFrom("data", "id", ""),
      value,
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 40 }), fc.array(fc.nat(30)), async (lines, cuts) => {
        const whole = bytes(`${lines.join("\n")}\n\n`);
        const pieces: Uint8Array[] = [];
        let from = 0;
        for (const cut of cuts) {
          pieces.push(whole.subarray(from, from + cut));
          from += cut;
        }
        pieces.push(whole.subarray(from));
        const expected = referenceOf(new TextDecoder().decode(whole));
        expect((await eventsOf(pieces)).map(standardFields)).toEqual(expected);
      }),
    );
  });
});
