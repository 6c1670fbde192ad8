import { readFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { compileErrorAt, inMemoryResolver, readTestModule } from "#test/in-memory-modules";
import { checkEventHandlers, meantHandler } from "./event-handlers.ts";

const FILES = {
  "src/data.server.ts": `
    import { server } from "tsweb";
    export const save = server((name: string, age: int) => name);
    export const refresh = server(() => 1);
    export const numbers = server(function* (to: number) { yield to; });
  `,
  "src/barrel.ts": 'export { save } from "./data.server.ts"; export const other = () => 1;',
};

const HEAD = [
  'import { save, refresh, numbers } from "./data.server.ts"; import * as data from "./data.server.ts";',
  'import { save as passed, other } from "./barrel.ts"; const local = () => save("a", 1);',
  "",
].join("\n");

const check = (text: string, file = "src/a.tsx") =>
  checkEventHandlers(readTestModule(file, text), inMemoryResolver(FILES));

describe("a server function as an event handler", () => {
  test.each([
    ["<button onClick={«save} />", "Write onClick={() => save(name, age)}."],
    ["<button onClick={ok ? local : «refresh} />", "Write onClick={() => refresh()}."],
    ["<button onClick={ok && «data.save} />", "Write onClick={() => data.save(name, age)}."],
    ["<input onInput={«passed} />", "Write onInput={() => passed(name, age)}."],
    ["<p onMouseOver={«numbers as any} />", "Write onMouseOver={() => numbers(to)}."],
    ["<form onSubmit={«save} />", "For a form whose fields are its parameters, write action={save}."],
  ])("is rejected at the value: %s", async (markup, fix) => {
    const error = await compileErrorAt("src/a.tsx", `${HEAD}export const a = () => ${markup};`, check);
    expect(error.message).toContain("cannot be an event handler: it would receive the event as its argument.");
    expect(error.message).toContain(fix);
  });

  test.each([
    "<button onClick={() => save('a', 1)} />",
    "<button onClick={local} />",
    "<button onClick={other} />",
    "<form action={save} />",
    "<Button onClick={save} />",
    "<button online={save} />",
    "((save: () => void) => <button onClick={save} />)",
  ])("is none in: %s", async (markup) => {
    await expect(check(`${HEAD}export const a = () => ${markup};`)).resolves.toBeUndefined();
  });

  test("is not checked in server modules, whose markup has no event handlers", async () => {
    await expect(check(`${HEAD}export const a = <b onClick={save} />;`, "src/a.server.tsx")).resolves.toBeUndefined();
  });
});

describe("a misspelled event handler", () => {
  test.each([
    ["<button «onClik={local} />", "Elements have no event handler onClik. Write onClick."],
    [
      "<form «onSubmitt={(event) => event.preventDefault()} />",
      "Elements have no event handler onSubmitt. Write onSubmit.",
    ],
  ])("is rejected at its name: %s", async (markup, message) => {
    const error = await compileErrorAt("src/a.tsx", `${HEAD}export const a = () => ${markup};`, check);
    expect(error.message).toContain(message);
  });

  test.each([
    "<my-list onClik={local} />",
    "<List onClik={local} />",
    "<button onSave={local} />",
    "<button online />",
  ])("is not: %s", async (markup) => {
    await expect(check(`${HEAD}export const a = () => ${markup};`)).resolves.toBeUndefined();
  });
});

describe("a function that returns nothing and is called during the rendering", () => {
  const declared = [
    "const add = () => { count++; };",
    "function remove(id: number) { if (id === 1) return; items.forEach((item) => { return item.id; }); }",
    "const make = () => () => count++; const either = () => { if (ready) return save; };",
    "let changed = () => {}; changed = make; const later = async () => {}; const over = (a) => { a(); }",
  ].join("\n");

  test.each([
    ["<button onClick={«add()} />", "Write onClick={() => add()}."],
    ["<button onClick={ready ? «remove(item.id) : undefined} />", "Write onClick={() => remove(item.id)}."],
    ['<button onClick={«alert("hello")} />', 'Write onClick={() => alert("hello")}.'],
    ["<input onInput={«console.log(1)} />", "Write onInput={() => console.log(1)}."],
  ])("is rejected as an event handler: %s", async (markup, fix) => {
    const error = await compileErrorAt("src/a.tsx", `${declared}\nexport const a = () => ${markup};`, check);
    expect(error.message).toContain("This calls the function during the rendering, and it returns nothing");
    expect(error.message).toContain(fix);
  });

  test.each([
    "<button onClick={make()} />",
    "<button onClick={either()} />",
    "<button onClick={changed()} />",
    "<button onClick={later()} />",
    "<button onClick={unknown()} />",
    "<button onClick={() => add()} />",
    "<button onClick={add} />",
    "<Button onClick={add()} />",
    "((add: () => () => void) => <button onClick={add()} />)",
    "((alert: () => () => void) => <button onClick={alert()} />)",
  ])("is none in: %s", async (markup) => {
    await expect(check(`${declared}\nexport const a = () => ${markup};`)).resolves.toBeUndefined();
  });
});

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
