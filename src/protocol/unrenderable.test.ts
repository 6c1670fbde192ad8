import { h } from "preact";
import { expect, test } from "vitest";
import { unrenderableMessage } from "./element-checks.ts";

test.each([
  [{ name: "Ada", age: 3 }, "Render one of its fields (name, age), for example `{user.name}`."],
  [{}, "Render a text that is made of it, for example `{String(value)}`."],
  [new Date(0), "Render a text that is made of it, for example `{date.toISOString()}`."],
  [{ nodeType: 1, __e: null }, "Store what you need of it, for example `event.currentTarget.value`, and render that."],
  [new Event("click"), "Store what you need of it, for example `event.currentTarget.value`, and render that."],
])("the message for %o as a child says what to render", (child, fix) => {
  expect(unrenderableMessage(child, "<p>")).toBe(
    `An object (${child.constructor.name}) cannot be rendered in <p>. ${fix}`,
  );
});

test.each([["text"], [1], [null], [undefined], [true], [[{}]], [h("p", null)], [Promise.resolve()]])(
  "there is none for %o",
  (child) => {
    expect(unrenderableMessage(child, "<p>")).toBeUndefined();
  },
);
