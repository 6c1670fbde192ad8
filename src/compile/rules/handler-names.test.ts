import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { meantHandler } from "./event-handlers.ts";

describe("meantHandler", () => {
  it.each([
    ["onClik", "onClick"],
    ["onCilck", "onClick"],
    ["onSubmitt", "onSubmit"],
    ["onChnage", "onChange"],
    ["onMouseEnterr", "onMouseEnter"],
    ["onKeydDown", "onKeyDown"],
    ["onClikCapture", "onClick"],
  ])("returns the event handler that %s means: %s", (name, meant) => {
    expect(meantHandler(name)).toBe(meant);
  });

  it("returns undefined for every event handler in the types of Preact", () => {
    const types = readFileSync(new URL("../../../node_modules/preact/src/dom.d.ts", import.meta.url), "utf8");
    const names = new Set([...types.matchAll(/^\s+(on[A-Z]\w*)\?:/gm)].map(([, name = ""]) => name));
    expect(names.size).toBeGreaterThan(150);
    expect([...names].filter((name) => meantHandler(name) !== undefined)).toEqual([]);
  });

  it.each([
    "onclick",
    "onSave",
    "onClickOutside",
    "onDismiss",
    "onItemSelect",

    "onKEYDOWN",
    "onMousewheel",
  ])("returns undefined for %s, the event of an element of the application, or another notation", (name) => {
    expect(meantHandler(name)).toBeUndefined();
  });
});
