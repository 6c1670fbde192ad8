import { Component, type ComponentChildren, h } from "preact";
import { useState } from "preact/hooks";
import { renderToString } from "preact-render-to-string";
import { describe, expect, test } from "vitest";
import { mountState } from "#test/mounted-state";
import { nextRender, TextRoot } from "#test/text-root";
import { state } from "./state.ts";

describe("a change of a state re-renders the component with the new value", () => {
  const cases: [string, (value: ReturnType<typeof sample>) => unknown][] = [
    ["a property", (s) => (s.name = "Grace")],
    ["a nested property", (s) => (s.address.city = "Paris")],
    ["a new property", (s) => (s.address.zip = "75001")],
    ["a deleted property", (s) => delete s.address.zip2],
    ["an item", (s) => (s.tags[0] = "z")],
    ["a property of an item", (s) => ((s.items[1] as { done: boolean }).done = true)],
    ["push", (s) => s.tags.push("d")],
    ["pop", (s) => s.tags.pop()],
    ["shift", (s) => s.tags.shift()],
    ["unshift", (s) => s.tags.unshift("0")],
    ["splice", (s) => s.tags.splice(1, 1, "x", "y")],
    ["sort", (s) => s.tags.sort().reverse()],
    ["reverse", (s) => s.tags.reverse()],
    ["fill", (s) => s.tags.fill("f")],
    ["copyWithin", (s) => s.tags.copyWithin(0, 1)],
    ["length", (s) => (s.tags.length = 1)],
    ["a growing length", (s) => (s.tags.length = 5)],
    ["Object.assign", (s) => Object.assign(s.address, { city: "Rome", zip: "1" })],
    ["Object.defineProperty", (s) => Object.defineProperty(s.address, "city", { value: "Oslo" })],
    ["a method that uses this", (s) => s.rename("Joan")],
    ["a setter", (s) => (s.nick = "Al")],
    ["a new array", (s) => (s.items = s.items.filter((item) => item.done))],
  ];

  function sample() {
    return {
      name: "Ada",
      address: { city: "London", zip2: "x" } as { city: string; zip?: string; zip2?: string },
      tags: ["b", "a", "c"],
      items: [{ done: false }, { done: false }],
      rename(name: string) {
        this.name = name;
      },
      get nick() {
        return this.name;
      },
      set nick(value: string) {
        this.name = `${value}!`;
      },
    };
  }

  test.each(cases)("%s", async (_, change) => {
    const expected = sample();
    change(expected);
    const page = mountState(sample);
    change(page.state);
    await nextRender();
    expect(page.renders).toBe(2);
    expect(page.text()).toBe(JSON.stringify(expected));
  });
});

test("several assignments in one task cause one rendering", async () => {
  const page = mountState(() => ({ a: 0, list: [3, 1, 2] }));
  page.state.a = 1;
  page.state.a = 2;
  page.state.list.sort();
  page.state.list.push(4);
  await nextRender();
  expect(page.renders).toBe(2);
  expect(page.text()).toBe('{"a":2,"list":[1,2,3,4]}');
});

test("an assignment after an await or in a timer re-renders the component", async () => {
  const page = mountState(() => ({ a: 0 }));
  await new Promise<void>((resolve) => {
    setTimeout(() => {
      page.state.a = 1;
      resolve();
    });
  });
  await nextRender();
  expect(page.text()).toBe('{"a":1}');
  await Promise.resolve();
  page.state.a = 2;
  await nextRender();
  expect(page.text()).toBe('{"a":2}');
});

test("assigning an equal value does not re-render the component", async () => {
  const page = mountState(() => ({ a: 1, nan: Number.NaN, inner: { b: 1 }, list: [1] }));
  page.state.a = 1;
  page.state.nan = Number.NaN;
  const { inner } = page.state;
  page.state.inner = inner;
  page.state.list.length = 1;
  Reflect.deleteProperty(page.state, "none");
  await nextRender();
  expect(page.renders).toBe(1);
});

test("-0 and 0 are different values", async () => {
  const page = mountState(
    () => ({ a: 0 }),
    (s) => Object.is(s.a, -0),
  );
  page.state.a = -0;
  await nextRender();
  expect(page.text()).toBe("true");
});

test("assigning undefined to an absent property is a change", async () => {
  const page = mountState<{ b?: undefined }>(
    () => ({}),
    (s) => "b" in s,
  );
  page.state.b = undefined;
  await nextRender();
  expect(page.text()).toBe("true");
});

test("an object from a getter is observed", async () => {
  const page = mountState(() => ({
    items: [{ n: 1 }],
    get first() {
      return this.items[0];
    },
  }));
  expect(page.state.first).toBe(page.state.items[0]);
  Object.assign(page.state.first ?? {}, { n: 2 });
  await nextRender();
  expect(page.renders).toBe(2);
});

test("this is the proxy in a function from a getter", async () => {
  const page = mountState(() => ({
    n: 5,
    get reset() {
      return () => {
        this.n = 0;
      };
    },
  }));
  page.state.reset();
  await nextRender();
  expect(page.text()).toBe('{"n":0}');
});

test("the initial value is used once, and two states of a component are independent", async () => {
  const root = new TextRoot();
  let made: { first: { n: number }; second: { n: number } } | undefined;
  let start = 1;
  root.renderComponent(() => {
    made = { first: state({ n: start }), second: state({ n: start * 10 }) };
    return JSON.stringify(made);
  });
  start = 5;
  if (made) made.first.n++;
  await nextRender();
  expect(root.text).toBe('{"first":{"n":2},"second":{"n":10}}');
});

test("two instances of a component have independent states", async () => {
  const made: { n: number }[] = [];
  const Counter = ({ at }: { at: number }) => {
    made[at] = state({ n: 0 });
    return `${made[at]?.n} `;
  };
  const root = new TextRoot();
  root.renderComponent(() => [h(Counter, { at: 0 }), h(Counter, { at: 1 })]);
  if (made[1]) made[1].n = 7;
  await nextRender();
  expect(root.text).toBe("0 7 ");
});

test("an assignment during rendering does not cause an endless loop", async () => {
  const page = mountState(
    () => ({ n: 0, double: 0 }),
    (s) => {
      s.double = s.n * 2;
      return s.double;
    },
  );
  page.state.n = 4;
  await nextRender();
  await nextRender();
  expect(page.text()).toBe("8");
});

test("a change is rendered even if a change of useState in the same task is undone", async () => {
  const root = new TextRoot();
  let own = { n: 0 };
  let set: (value: number) => void = () => {};
  root.renderComponent(() => {
    const [count, setCount] = useState(0);
    set = setCount;
    own = state({ n: 0 });
    return `${count} ${own.n}`;
  });
  set(1);
  set(0);
  own.n = 1;
  await nextRender();
  expect(root.text).toBe("0 1");
});

test("an assignment after the component was removed does nothing", async () => {
  const page = mountState(() => ({ n: 0 }));
  const root = new TextRoot();
  let last = page.state;
  root.renderComponent(() => {
    last = state({ n: 0 });
    return String(last.n);
  });
  root.renderComponent(null);
  last.n = 1;
  await nextRender();
  expect(root.text).toBe("");
});

describe("state() outside rendering", () => {
  const message = "Call state() inside a view";

  test("throws", () => {
    expect(() => state({ n: 0 })).toThrow(message);
  });

  test("throws after a rendering, in the browser and on the server", () => {
    mountState(() => ({ n: 0 }));
    expect(() => state({ n: 0 })).toThrow(message);
    renderToString(h(() => h("p", null, String(state({ n: 1 }).n)), {}));
    expect(() => state({ n: 0 })).toThrow(message);
  });

  test("throws in a callback of a component", async () => {
    const page = mountState(
      () => ({ late: () => state({ n: 0 }) }),
      () => "",
    );
    expect(() => page.state.late()).toThrow(message);
  });
});

describe("state() on the server", () => {
  test("renders with values that were assigned during rendering", () => {
    const View = () => {
      const s = state({ n: 1, list: [] as number[] });
      if (s.list.length === 0) s.list.push(s.n, 2);
      return h("p", null, s.list.join("+"));
    };
    expect(renderToString(h(View, {}))).toBe("<p>1+2</p>");
  });

  test("creates a new state for each rendering", () => {
    const View = () => {
      const s = state({ n: 0 });
      if (s.n === 0) s.n++;
      return `${s.n}`;
    };
    expect([renderToString(h(View, {})), renderToString(h(View, {}))]).toEqual(["1", "1"]);
  });

  test("does not keep a state after a failed rendering", () => {
    const Broken = (): ComponentChildren => {
      state({ n: 0 });
      throw new Error("broken");
    };
    expect(() => renderToString(h(Broken, {}))).toThrow("broken");
    expect(() => state({ n: 0 })).toThrow("Call state() inside a view");
    class Outer extends Component {
      override render() {
        return h(() => String(state({ n: 3 }).n), {});
      }
    }
    expect(renderToString(h(Outer, {}))).toBe("3");
  });
});

test("an object that a package froze after it was read can be read further", () => {
  const page = mountState(() => ({ points: [{ day: "Mon", done: 1 }] }));
  // As Immer does: it freezes the outer object, then reads and freezes the inner ones.
  const { points } = page.state;
  Object.freeze(points);
  for (const point of points) Object.freeze(point);
  expect(points.map(({ day }) => day)).toEqual(["Mon"]);
  expect(page.state.points[0]).toBe(page.state.points[0]);
});
