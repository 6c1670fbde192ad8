/**
 * Hydration in Chromium: the server's elements, ids, and the user's input before hydration.
 */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readTestModule } from "#test/in-memory-modules";
import { checkFieldNames } from "../../src/compile/rules/forms.ts";
import { MARK } from "./island-server.ts";
import { changeView, IslandsFixture, innerHtml, waitForView } from "./islands-fixture.ts";

let fixture: IslandsFixture;
let page: Page;
/** Uncaught errors of the page and violations of its content security policy. */
let errors: readonly string[];

beforeAll(async () => {
  fixture = await IslandsFixture.open();
});

afterAll(() => fixture?.close());

beforeEach(async () => {
  ({ page, errors } = await fixture.newPage());
});

afterEach(() => fixture.closePage());

describe("hydration between the comments", () => {
  const rows = [
    { id: 1, name: "Ada" },
    { id: 2, name: "Grace" },
  ];

  test("keeps the server's elements, in a table between other rows", async () => {
    const release = fixture.server.delay("/assets/views.js");
    const body = "<table><tbody><tr id=before><td></tr>{0}<tr id=after><td></tr></tbody></table>";
    await page.goto(fixture.pageOf(body, [{ name: "Rows", props: { rows, name: "rows" } }]), { waitUntil: "commit" });
    await page.locator("#after").waitFor();
    const before = await innerHtml(page, "tbody");
    const firstRow = await page.$("#before + tr");
    release();
    await waitForView(page, "rows");
    expect(await innerHtml(page, "tbody")).toBe(before);
    await changeView(page, "rows.rows[0].name = 'Augusta'");
    expect(await page.evaluate((row) => row?.isConnected && row.textContent, firstRow)).toBe("Augusta");
    expect(errors).toEqual([]);
  });

  test("keeps added, moved and removed nodes between the comments", async () => {
    const body = "<table><tbody><tr id=before><td></tr>{0}{1}<tr id=after><td></tr></tbody></table>";
    const placedViews = [
      { name: "Rows", props: { rows, name: "one" } },
      { name: "Rows", props: { rows: [{ id: 9, name: "Joan" }], name: "two" } },
    ];
    await page.goto(fixture.pageOf(body, placedViews));
    await waitForView(page, "two");
    const names = () =>
      page.evaluate(() => {
        const rows = [...document.querySelectorAll("tbody > tr")];
        return rows.map((row) => row.id || row.firstElementChild?.textContent).join(" ");
      });
    const steps: [string, string][] = [
      ["one.rows.push({ id: 3, name: 'C' }, { id: 4, name: 'D' }, { id: 5, name: 'E' })", "Ada Grace C D E Joan"],
      ["one.rows.reverse()", "E D C Grace Ada Joan"],
      ["one.rows.unshift({ id: 6, name: 'F' })", "F E D C Grace Ada Joan"],
      ["one.rows.splice(1, 4); two.rows.push({ id: 8, name: 'Z' }, { id: 7, name: 'Y' })", "F Ada Joan Z Y"],
      ["one.rows.length = 0", "Joan Z Y"],
      ["two.rows.length = 0", ""],
      ["one.rows.push({ id: 1, name: 'A' }, { id: 2, name: 'B' }, { id: 3, name: 'C' })", "A B C"],
      ["two.rows = [{ id: 1, name: 'X' }, { id: 2, name: 'Y' }]", "A B C X Y"],
      ["one.rows = [2, 3, 1].map((id) => ({ id, name: 'n' + id })); two.rows = []", "n2 n3 n1"],
      ["two.rows.push({ id: 1, name: 'X' }, { id: 2, name: 'Y' }, { id: 3, name: 'W' })", "n2 n3 n1 X Y W"],
    ];
    for (const [step, shown] of steps) {
      await changeView(page, step);
      expect(await names(), step).toBe(`before ${shown} after`.replace("  ", " "));
    }
    const comments = await page.evaluate(() =>
      Array.from(document.querySelector("tbody")?.childNodes ?? [], (node) =>
        node.nodeType === 8 ? (node as Comment).data : "row",
      ).join(" "),
    );
    expect(comments).toBe(`row ${MARK}:0 row row row /${MARK}:0 ${MARK}:1 row row row /${MARK}:1 row`);
    expect(errors).toEqual([]);
  });

  test("handles a view of text that becomes empty and text again", async () => {
    const placedViews = [{ name: "Text", props: { text: "hello" } }];
    await page.goto(fixture.pageOf("<p>[{0}]</p>", placedViews));
    await waitForView(page, "text");
    const shown = () => page.evaluate(() => document.querySelector("p")?.textContent);
    expect(await shown()).toBe("[hello]");
    for (const text of ["bye", null, "", "again"]) {
      await changeView(page, `text.text = ${JSON.stringify(text)}`);
      expect(await shown()).toBe(`[${text ?? ""}]`);
    }
    expect(errors).toEqual([]);
  });

  test("handles a view that is empty at first", async () => {
    await page.goto(
      fixture.pageOf("<ul><li>one</li>{0}<li>two</li></ul>", [{ name: "Rows", props: { rows: [], name: "rows" } }]),
    );
    await waitForView(page, "rows");
    await changeView(page, "rows.rows.push({ id: 1, name: 'A' }, { id: 2, name: 'B' })");
    expect(await page.evaluate(() => document.querySelector("ul")?.textContent)).toBe("oneABtwo");
    expect(errors).toEqual([]);
  });

  test("creates SVG elements inside an SVG element", async () => {
    await page.goto(fixture.pageOf("<svg><g>{0}</g></svg>", [{ name: "Circles" }]));
    await waitForView(page, "circles");
    await changeView(page, "circles.count = 3");
    expect(
      await page.evaluate(() =>
        Array.from(document.querySelectorAll("circle"), (one) => one instanceof SVGCircleElement),
      ),
    ).toEqual([true, true, true]);
  });

  test("attaches events, passes props, and calls on_unmount while the elements are in the page", async () => {
    const placedViews = [
      { name: "Counter", props: { start: 5, name: "a" } },
      { name: "Counter", props: { start: 7, name: "b" } },
    ];
    await page.goto(fixture.pageOf("{0}<hr>{1}", placedViews));
    await waitForView(page, "bState");
    await page.click("#a");
    await page.click("#a");
    await page.click("#b");
    expect(await page.locator("button").allTextContents()).toEqual(["7", "8"]);
    await changeView(page, "aState.isShown = false");
    expect(await page.title()).toBe("a unmounted with 7");
    expect(errors).toEqual([]);
  });
});

test("hydration keeps the ids that useId returned on the server, and ids are unique across islands", async () => {
  const release = fixture.server.delay("/assets/views.js");
  const placedViews = ["one", "two"].map((name) => ({ name: "Ids", props: { name } }));
  await page.goto(fixture.pageOf("{0}{1}", placedViews), { waitUntil: "commit" });
  await page.locator("section + section").waitFor();
  const ids = () => page.evaluate(() => Array.from(document.querySelectorAll("input"), ({ id }) => id));
  const served = await ids();
  expect(served).toEqual(["P1-0", "P1-1", "P2-0", "P2-1"]);
  release();
  for (const { props } of placedViews) await waitForView(page, props.name);
  await page.click("section:first-of-type button");
  await page.click("section:last-of-type button");
  await expect.poll(ids).toEqual(["P1-0", "P1-1", "P1-2", "P2-0", "P2-1", "P2-2"]);
  expect(await page.evaluate(() => Array.from(document.querySelectorAll("label"), ({ htmlFor }) => htmlFor))).toEqual(
    await ids(),
  );
});

describe("input before hydration", () => {
  /** Opens the fields with a delayed script. Returns a function that hydrates them. */
  async function open(): Promise<() => Promise<void>> {
    const release = fixture.server.delay("/assets/views.js");
    await page.goto(fixture.pageOf("{0}", [{ name: "Fields" }]), { waitUntil: "commit" });
    await page.locator("[name=hue]").waitFor();
    return async () => {
      release();
      await waitForView(page, "fields");
      await changeView(page, "");
    };
  }

  const state = () => page.evaluate("JSON.parse(JSON.stringify(fields))") as Promise<Record<string, unknown>>;

  test("is kept, and the view's state is updated by input and change events", async () => {
    const hydrate = await open();
    await page.locator("[name=text]").pressSequentially("typed");
    await page.locator("[name=note]").fill("another\nnote");
    await page.check("[name=agreed]");
    await page.check("[value=l]");
    await page.selectOption("[name=color]", "blue");
    await page.selectOption("[name=toppings]", ["egg", "leek"]);
    await hydrate();
    expect(await state()).toEqual({
      text: "typed",
      kept: "as it was",
      note: "another\nnote",
      agreed: true,
      size: "l",
      color: "blue",
      toppings: ["egg", "leek"],
    });
    expect(await page.evaluate("fieldEvents")).toEqual(
      ["text", "note", "agreed", "size", "color", "toppings"].flatMap((name) => [`${name}:input`, `${name}:change`]),
    );
    expect(await page.inputValue("[name=text]")).toBe("typed");
    expect(await page.inputValue("[name=note]")).toBe("another\nnote");
    expect(await page.isChecked("[name=agreed]")).toBe(true);
    expect(
      await page.evaluate(() =>
        Array.from(document.querySelectorAll<HTMLInputElement>("[name=size]"), ({ checked }) => checked),
      ),
    ).toEqual([false, false, true]);
    expect(await page.inputValue("[name=color]")).toBe("blue");
    await changeView(page, "fields.text += '!'");
    expect(await page.inputValue("[name=text]")).toBe("typed!");
    expect(errors).toEqual([]);
  });

  test("is not detected in fields with the browser's default values, which cause no events", async () => {
    const hydrate = await open();
    await hydrate();
    expect(await page.evaluate("fieldEvents")).toEqual([]);
  });

  test.each([
    ["text", "some text"],
    ["note", "some\nlines of text"],
  ])("includes focus and caret in %s, with and without text", async (name, typed) => {
    const caret = () =>
      page.evaluate(() => {
        const active = document.activeElement as HTMLTextAreaElement;
        return [active.name, active.selectionStart, active.selectionEnd];
      });
    for (const text of [typed, null]) {
      const hydrate = await open();
      if (text) await page.locator(`[name=${name}]`).fill(text);
      await page.focus(`[name=${name}]`);
      await page.evaluate(() => (document.activeElement as HTMLTextAreaElement).setSelectionRange(2, 5));
      const before = await caret();
      await hydrate();
      expect(await caret()).toEqual(before);
      if (text) expect(await state()).toMatchObject({ [name]: text });
    }
  });

  test("can continue during hydration", async () => {
    const hydrate = await open();
    await page.focus("[name=text]");
    await page.keyboard.type("one ");
    await hydrate();
    await page.keyboard.type("two");
    expect(await page.inputValue("[name=text]")).toBe("one two");
    expect(await state()).toMatchObject({ text: "one two" });
  });
});

describe("a field named like a member of its form", () => {
  test("does not stop its view, and what was typed early is kept", async () => {
    const names = ["reset", "contains", "submit", "elements", "action", "method", "id", "name", "requestSubmit"];
    const release = fixture.server.delay("/assets/views.js");
    const views = names.map((name) => ({ name: "Named", props: { name } }));
    const body = views.map((_, index) => `{${index}}`).join("");
    await page.goto(fixture.pageOf(body, views), { waitUntil: "commit" });
    for (const name of names) await page.locator(`[name=${name}]`).fill(`typed in ${name}`);
    release();
    for (const name of names) {
      await waitForView(page, `named ${name}`);
      await expect.poll(() => page.evaluate(`globalThis["named ${name}"].text`)).toBe(`typed in ${name}`);
      await page.locator(`[name=${name}]`).fill("more");
      expect(await page.locator("output").nth(names.indexOf(name)).textContent(), name).toBe("more");
    }
    expect(errors).toEqual([]);
  });
});

describe("a field with the name of a member of its form that the compile step accepts", () => {
  /** Returns the names of all members of forms, and those that Preact adds. */
  async function memberNames(): Promise<string[]> {
    const names = await page.evaluate(() => {
      const found: string[] = [];
      for (let object: object = document.createElement("form"); object; object = Object.getPrototypeOf(object)) {
        found.push(...Object.getOwnPropertyNames(object));
      }
      return found;
    });
    return [...new Set([...names, "__a", "__e", "__k"])];
  }

  function isAccepted(name: string): boolean {
    try {
      checkFieldNames(readTestModule("src/a.tsx", `export const A = () => <form><input name="${name}" /></form>;`));
      return true;
    } catch {
      return false;
    }
  }

  test("does not stop its view, which changes, moves, removes and creates the form", async () => {
    const names = (await memberNames()).filter(isAccepted);
    expect(names.length).toBeGreaterThan(200);
    const views = names.map((name) => ({ name: "Moved", props: { name } }));
    await page.goto(fixture.pageOf(views.map((_, index) => `<section>{${index}}</section>`).join(""), views));
    await expect.poll(() => page.evaluate("Object.keys(globalThis.moved ?? {}).length")).toBe(names.length);
    const changed = '<form title="changed" class="wide"><b>b</b>{0}<i>0</i></form>';
    for (const [step, markup] of [
      ["s.isChanged = true", `${changed}<p>p</p>`],
      ["s.order.push('last')", `${changed}<p>p</p><p>p</p>`],
      ["s.order.reverse()", `<p>p</p><p>p</p>${changed}`],
      ["dispatchEvent.call(forms[index], new Event('reset'))", `<p>p</p><p>p</p>${changed.replace("0</i>", "1</i>")}`],
      ["s.isChanged = false", "<p>p</p><p>p</p><form>{0}<i>1</i></form>"],
      ["s.order.splice(2, 1)", "<p>p</p><p>p</p>"],
      ["s.order.unshift('form')", "<form>{0}<i>1</i></form><p>p</p><p>p</p>"],
    ] as const) {
      await changeView(
        page,
        `const forms = document.querySelectorAll("form"); Object.values(moved).forEach((s, index) => { ${step}; });`,
      );
      const shown = await page.evaluate(() =>
        Array.from(document.querySelectorAll("section"), ({ innerHTML }) => innerHTML),
      );
      const wrong = names.flatMap((name, index) => {
        const html = shown[index]?.replace(/<!--.*?-->| title=""/g, "").replace(`<input name="${name}">`, "{0}");
        return html === markup ? [] : [`${name}: ${html}`];
      });
      expect(wrong, step).toEqual([]);
    }
    expect(errors).toEqual([]);
  }, 60_000);
});

describe("a click before hydration", () => {
  async function clickEarly(selector: string, click = () => page.click(selector)): Promise<void> {
    const release = fixture.server.delay("/assets/islands.js");
    await page.goto(fixture.pageOf("<button id=other type=button>Other</button>{0}", [{ name: "Clicks" }]), {
      waitUntil: "commit",
    });
    await page.locator(selector).waitFor();
    await click();
    release();
    await waitForView(page, "clicks");
  }

  const counted = () => page.evaluate("JSON.stringify(clicks)");

  test("on a button is done once when the view is there", async () => {
    await clickEarly("#plain");
    expect(await counted()).toBe('{"plain":1,"native":0}');
    await page.click("#plain");
    expect(await counted()).toBe('{"plain":2,"native":0}');
    expect(errors).toEqual([]);
  });

  test("on a button that the browser handles is not done twice", async () => {
    await clickEarly("#native");
    expect(await counted()).toBe('{"plain":0,"native":0}');
    expect(await page.evaluate(() => document.querySelector("#menu")?.matches(":popover-open"))).toBe(true);
  });

  test("is not made of the focus of the keyboard, or of a button that is still pressed", async () => {
    await clickEarly("#plain", () => page.focus("#plain"));
    expect(await counted()).toBe('{"plain":0,"native":0}');
    await clickEarly("#plain", async () => {
      await page.keyboard.press("Tab");
      await page.keyboard.press("Tab");
    });
    expect(await page.evaluate("document.activeElement.id")).toBe("plain");
    expect(await counted()).toBe('{"plain":0,"native":0}');
    await clickEarly("#plain", async () => {
      await page.hover("#plain");
      await page.mouse.down();
    });
    expect(await counted()).toBe('{"plain":0,"native":0}');
    await page.mouse.up();
    await expect.poll(counted).toBe('{"plain":1,"native":0}');
  });

  test("outside of the view is not repeated", async () => {
    await clickEarly("#other");
    expect(await counted()).toBe('{"plain":0,"native":0}');
  });
});

describe("a field whose handler refuses characters", () => {
  test("shows the value of the state, also if that stays the same", async () => {
    await page.goto(fixture.pageOf("{0}", [{ name: "Digits" }]));
    await waitForView(page, "digits");
    await page.locator("#digits").pressSequentially("12b3c");
    expect(await page.evaluate("digits.text")).toBe("123");
    expect(await page.inputValue("#digits")).toBe("123");
    await page.click("#always");
    expect(await page.isChecked("#always")).toBe(true);
    expect(errors).toEqual([]);
  });
});
