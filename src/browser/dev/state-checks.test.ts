import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { describe, expect, test } from "vitest";
import { mountState } from "#test/mounted-state";
import { state } from "../state.ts";

describe("the argument of state()", () => {
  test.each<[string, unknown, string]>([
    ["a number", 0, "received 0"],
    ["a string", "Ada", 'received "Ada"'],
    ["null", null, "received null"],
    ["undefined", undefined, "received undefined"],
    ["a function, as useState takes it", () => ({ n: 0 }), "received a function"],
    ["a promise", Promise.resolve({ n: 0 }), "received a promise"],
  ])("is an object: %s is an error, also on the server", (_what, initial, received) => {
    const View = () => String(state(initial as object));
    expect(() => renderToString(h(View, {}))).toThrow(
      `state() takes an object, and ${received}. Write its variables as fields: \`const counter = state({ count: 0 })\``,
    );
  });
});

describe("a promise that is assigned to a state", () => {
  const sample = () => ({
    guests: ["Ada"],
    name: "",
    count: 0,
    user: { name: "Ada" },
    call: null as unknown,
    busy: false as unknown,
    last: undefined as unknown,
  });

  test.each<[string, (s: Record<string, unknown>) => unknown, string]>([
    ["an array", (s) => (s.guests = Promise.resolve([])), '"guests" of a state, in place of an array. Await it'],
    ["a text", (s) => (s.name = Promise.resolve("")), '"name" of a state, in place of a value of the type string'],
    ["a number", (s) => (s.count = Promise.resolve(1)), '"count" of a state, in place of a value of the type number'],
    ["an object", (s) => (s.user = Promise.resolve({})), '"user" of a state, in place of a value of the type object'],
  ])("is an error in place of %s", (_what, assign, message) => {
    const page = mountState(sample);
    expect(() => assign(page.state)).toThrow(`A promise was assigned to ${message}`);
  });

  test.each<[string, "call" | "busy" | "last"]>([
    ["null", "call"],
    ["false", "busy"],
    ["undefined", "last"],
  ])("is stored in place of %s and of another promise, because a call is stored to cancel it", (_what, key) => {
    const page = mountState(sample);
    const [first, second] = [Promise.resolve(1), Promise.resolve(2)];
    page.state[key] = first;
    page.state[key] = second;
    expect(page.state[key]).toBe(second);
    page.state[key] = null;
    expect(page.state[key]).toBeNull();
  });
});
