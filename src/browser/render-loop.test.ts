import { type ComponentChild, h, options } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { renderToString } from "preact-render-to-string";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { TextRoot } from "#test/text-root";
import { on_mount } from "./lifecycle.ts";
import { state } from "./state.ts";

/** What Preact has thrown while it rendered changes. */
let errors: unknown[];

beforeEach(() => {
  errors = [];
  options.debounceRendering = (process) => {
    queueMicrotask(() => {
      try {
        process();
      } catch (error) {
        errors.push(error);
      }
    });
  };
});

afterEach(() => {
  Reflect.deleteProperty(options, "debounceRendering");
});

const settle = () => new Promise((resolve) => setTimeout(resolve));

describe("a rendering that never ends", () => {
  type Counter = { n: number; inner: { list: number[] } };
  const increment = (s: Counter) => s.n++;
  const initial = (): Counter => ({ n: 0, inner: { list: [] } });

  test.each<[string, string, (s: Counter) => unknown]>([
    ["assigns to a state", "n", (s) => (s.n = s.n + 1)],
    ["calls a function that assigns to a state", "n", (s) => increment(s)],
    ["changes an array of a state", "inner.list.24", (s) => s.inner.list.push(0)],
    ["deletes a field of a state", "n", (s) => [Reflect.deleteProperty(s, "n"), Object.assign(s, { n: 1 })]],
  ])("is an error that names the field if it %s", (_what, path, change) => {
    const root = new TextRoot();
    const Looping = () => {
      const s = state(initial());
      change(s);
      return String(s.n);
    };
    expect(() => root.renderComponent(Looping)).toThrow(
      `Each rendering of Looping changes "${path}" of a state, so the rendering would never end. Assign it in an event ` +
        "handler or in on_mount",
    );
    expect(() => renderToString(h(Looping, {}))).toThrow(`Each rendering of Looping changes "${path}"`);
  });

  test.each<[string, (guests: number[]) => unknown]>([
    ["reverse", (guests) => guests.reverse()],
    ["two orders", (guests) => [guests.sort((a, b) => b - a), guests.sort((a, b) => a - b)]],
    ["push", (guests) => guests.push(0)],
  ])("is an error that advises to copy the array if it is changed by %s", (_what, change) => {
    const root = new TextRoot();
    const Looping = () => {
      const s = state({ n: 0, inner: { guests: [1, 2, 3] } });
      change(s.inner.guests);
      return s.inner.guests.join();
    };
    expect(() => root.renderComponent(Looping)).toThrow("Copy it first: `[...guests].reverse()`.");
  });

  test("is an error that calls an array without a name of its own a list", () => {
    const root = new TextRoot();
    const Looping = () => state({ rows: [[1, 2]] }).rows.map((row) => row.reverse().join());
    expect(() => root.renderComponent(Looping)).toThrow("Copy it first: `[...list].reverse()`.");
  });

  test("is an error without advice about arrays if another field is changed", () => {
    const root = new TextRoot();
    const Looping = () => String(state(initial()).n++);
    expect(() => root.renderComponent(Looping)).toThrow(/or compute the value without storing it\.$/);
  });

  test("does not result from an array that each rendering sorts in the same order, or copies", () => {
    const root = new TextRoot();
    root.renderComponent(() => {
      const s = state({ list: [3, 1, 2] });
      return `${s.list.sort().join()} ${[...s.list].reverse().join()}`;
    });
    expect(root.text).toBe("1,2,3 3,2,1");
  });

  test("is an error after a change, and the view shows its last rendering and can be changed again", async () => {
    const root = new TextRoot();
    let shown: { n: number; isBroken: boolean } | undefined;
    root.renderComponent(() => {
      shown = state({ n: 0, isBroken: false });
      if (shown.isBroken) shown.n++;
      return `${shown.isBroken ? "broken" : "good"} ${shown.n}`;
    });
    const other = new TextRoot();
    let last = { text: "" };
    other.renderComponent(() => {
      last = state({ text: "other" });
      return last.text;
    });
    if (shown) shown.isBroken = true;
    last.text = "also";
    await settle();
    expect(errors.map(String)).toEqual([expect.stringContaining('changes "n" of a state')]);
    expect([root.text, other.text]).toEqual(["good 0", "also"]);
    if (shown) Object.assign(shown, { isBroken: false, n: 7 });
    await settle();
    expect(root.text).toBe("good 7");
  });

  test("is an error if a component changes the state of its parent each time", async () => {
    const root = new TextRoot();
    const Inner = ({ count }: { count: { n: number } }) => {
      count.n++;
      return null;
    };
    const Outer = () => {
      const count = state({ n: 0 });
      return [String(count.n), h(Inner, { count })];
    };
    root.renderComponent(Outer);
    await settle();
    expect(errors.map(String)).toEqual([expect.stringContaining('Each rendering of Outer changes "n"')]);
  });

  test.each<[string, () => ComponentChild]>([
    [
      "sets a state of useState",
      () => {
        const [n, setN] = useState(0);
        setN(n + 1);
        return n;
      },
    ],
    [
      "has an effect that sets a state of useState",
      () => {
        const [n, setN] = useState(0);
        useLayoutEffect(() => setN(n + 1));
        return n;
      },
    ],
  ])("is an error if it %s", async (_what, Hooked) => {
    const root = new TextRoot();
    root.renderComponent(function Looping() {
      return Hooked();
    });
    await settle();
    expect(errors.map(String)).toEqual([expect.stringContaining("Looping is rendered again and again")]);
  });
});

describe("not an error", () => {
  test("is a state that a rendering changes until it has the right value", async () => {
    const root = new TextRoot();
    root.renderComponent(() => {
      const s = state({ n: 0 });
      if (s.n < 20) s.n++;
      return String(s.n);
    });
    await settle();
    expect([root.text, errors]).toEqual(["20", []]);
  });

  test("is on_mount that changes the state of each of many components, and that of their parent", async () => {
    const root = new TextRoot();
    const Row = ({ total }: { total: { n: number } }) => {
      const row = state({ isMounted: false });
      on_mount(() => {
        row.isMounted = true;
        total.n++;
      });
      return row.isMounted ? "x" : "o";
    };
    root.renderComponent(() => {
      const total = state({ n: 0 });
      return [...Array.from({ length: 200 }, (_, key) => h(Row, { key, total })), String(total.n)];
    });
    await settle();
    expect([root.text, errors]).toEqual([`${"x".repeat(200)}200`, []]);
  });

  test("is a stream whose values are received at once", async () => {
    const root = new TextRoot();
    let received = { values: [] as number[] };
    root.renderComponent(() => {
      received = state({ values: [] as number[] });
      return String(received.values.length);
    });
    async function* stream() {
      for (let n = 0; n < 1000; n++) yield n;
    }
    for await (const n of stream()) received.values.push(n);
    await settle();
    expect([root.text, errors]).toEqual(["1000", []]);
  });
});
