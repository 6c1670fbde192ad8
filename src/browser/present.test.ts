import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { describe, expect, test } from "vitest";
import type { Presence } from "../protocol/index.ts";
import { type People, present } from "./present.ts";

const here: Presence = { channel: "room:1", token: "t", list: [], v: "1", stale: false };

describe("present", () => {
  test("names itself when it is called outside of a view", () => {
    expect(() => present(here)).toThrow("Call present() inside a view, at the top of its function");
  });

  test("advises to call presence when it receives the name of a channel", () => {
    expect(() => present("room:1" as unknown as Presence)).toThrow(
      'present() needs what presence() returns, and received "room:1". Call presence in the page, and pass its result to the ' +
        'view as a prop: `here={await presence("room:1", data)}`. In the view, call present(here).',
    );
  });

  test.each([
    [undefined, "undefined"],
    [null, "null"],
    ["f".repeat(278), "string"],
  ])("refuses %s, which presence does not return", (value, type) => {
    expect(() => present(value as unknown as Presence)).toThrow(`and received a value of type ${type}. Call presence`);
  });

  test.each([
    [new Map([["typing", true]]), "people.set: state: a Map cannot be sent. Use an object: Object.fromEntries(state)."],
    [
      { cursor: [0, Number.NaN] },
      "people.set: state.cursor[1]: NaN cannot be sent. Check the number first, or pass null.",
    ],
  ])("refuses a state that JSON does not have (%o)", (state, message) => {
    const people = render();
    expect(() => people.set(state)).toThrow(new TypeError(message));
  });

  test.each([[undefined], [null], [{ typing: true }], ["away"]])("accepts the state %o", (state) => {
    render().set(state);
  });
});

/** Renders a view, and returns what it has received from `present`. */
function render(): People {
  let people: People | undefined;
  renderToString(
    h(() => {
      people = present(here);
      return null;
    }, {}),
  );
  if (!people) throw new Error("The view was not rendered.");
  return people;
}
