import { h } from "preact";
import { expect, test } from "vitest";
import { TextRoot } from "../../tests/browser/text-root.ts";
import "./development.ts";

// A promise is an object, and Preact's types take those for markup.
const Later = async () => "late";

test("a component that returns a promise is an error that names it", () => {
  expect(() => new TextRoot().show(() => h(Later, {}))).toThrow(
    "Later returned a promise. Markup is synchronous: load what it shows in on_mount.",
  );
});

test("other errors stay what they are", () => {
  const broken = new Error("broken");
  const Broken = () => {
    throw broken;
  };
  expect(() => new TextRoot().show(() => h(Broken, {}))).toThrow(broken);
});
