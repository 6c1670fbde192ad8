import { Component, type ComponentChildren, h } from "preact";
import { useState } from "preact/hooks";
import { renderToString } from "preact-render-to-string";
import { describe, expect, test } from "vitest";
import { mount } from "#test/mounted-state";
import { rendered, TextRoot } from "#test/text-root";
import { state } from "./state.ts";

describe("an assignment updates the page", () => {
  const cases: [string, (value: ReturnType<typeof sample>) => unknown][] = [
    ["a variable", (s) => (s.name = "Grace")],
    ["a nested one", (s) => (s.address.city = "Paris")],
    ["a new one", (s) => (s.address.zip = "75001")],
    ["a deleted one", (s) => delete s.address.zip2],
    ["an item", (s) => (s.tags[0] = "z")],
    ["a variable of an item", (s) => ((s.items[1] as { done: boolean }).done = true)],
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
    ["an array in place of another", (s) => (s.items = s.items.filter((item) => item.done))],
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
    const page = mount(sample);
    change(page.state);
    await rendered();
    expect(page.renders).toBe(2);
    expect(page.text()).toBe(JSON.stringify(expected));
  });
});

test("several assignments in one go are one rendering", async () => {
  const page = mount(() => ({ a: 0, list: [3, 1, 2] }));
  page.state.a = 1;
  page.state.a = 2;
  page.state.list.sort();
  page.state.list.push(4);
  await rendered();
  expect(page.renders).toBe(2);
  expect(page.text()).toBe('{"a":2,"list":[1,2,3,4]}');
});

test("an assignment after an await, or in a timer, updates the page too", async () => {
  const page = mount(() => ({ a: 0 }));
  await new Promise<void>((resolve) => {
    setTimeout(() => {
      page.state.a = 1;
      resolve();
    });
  });
  await rendered();
  expect(page.text()).toBe('{"a":1}');
  await Promise.resolve();
  page.state.a = 2;
  await rendered();
  expect(page.text()).toBe('{"a":2}');
});

test("writing what is there already does not render", async () => {
  const page = mount(() => ({ a: 1, nan: Number.NaN, inner: { b: 1 }, list: [1] }));
  page.state.a = 1;
  page.state.nan = Number.NaN;
  const { inner } = page.state;
  page.state.inner = inner;
  page.state.list.length = 1;
  delete (page.state as { none?: string }).none;
  await rendered();
  expect(page.renders).toBe(1);
});

test("-0 and 0 are two values", async () => {
  const page = mount(
    () => ({ a: 0 }),
    (s) => Object.is(s.a, -0),
  );
  page.state.a = -0;
  await rendered();
  expect(page.text()).toBe("true");
});

test("undefined and absent are two values", async () => {
  const page = mount<{ b?: undefined }>(
    () => ({}),
    (s) => "b" in s,
  );
  page.state.b = undefined;
  await rendered();
  expect(page.text()).toBe("true");
});

test("what a getter gives is followed too", async () => {
  const page = mount(() => ({
    items: [{ n: 1 }],
    get first() {
      return this.items[0];
    },
  }));
  expect(page.state.first).toBe(page.state.items[0]);
  Object.assign(page.state.first ?? {}, { n: 2 });
  await rendered();
  expect(page.renders).toBe(2);
});

test("a getter writes to what is followed", async () => {
  const page = mount(() => ({
    n: 5,
    get reset() {
      return () => {
        this.n = 0;
      };
    },
  }));
  page.state.reset();
  await rendered();
  expect(page.text()).toBe('{"n":0}');
});

test("initial counts once; two states of a component are apart", async () => {
  const root = new TextRoot();
  let made: { first: { n: number }; second: { n: number } } | undefined;
  let start = 1;
  root.show(() => {
    made = { first: state({ n: start }), second: state({ n: start * 10 }) };
    return JSON.stringify(made);
  });
  start = 5;
  if (made) made.first.n++;
  await rendered();
  expect(root.text).toBe('{"first":{"n":2},"second":{"n":10}}');
});

test("two of one component have a state each", async () => {
  const made: { n: number }[] = [];
  const Counter = ({ at }: { at: number }) => {
    made[at] = state({ n: 0 });
    return `${made[at]?.n} `;
  };
  const root = new TextRoot();
  root.show(() => [h(Counter, { at: 0 }), h(Counter, { at: 1 })]);
  if (made[1]) made[1].n = 7;
  await rendered();
  expect(root.text).toBe("0 7 ");
});

test("an assignment while rendering settles", async () => {
  const page = mount(
    () => ({ n: 0, double: 0 }),
    (s) => {
      s.double = s.n * 2;
      return s.double;
    },
  );
  page.state.n = 4;
  await rendered();
  await rendered();
  expect(page.text()).toBe("8");
});

test("beside Preact's hooks, a change is not lost when theirs comes to nothing", async () => {
  const root = new TextRoot();
  let mine = { n: 0 };
  let set: (value: number) => void = () => {};
  root.show(() => {
    const [count, setCount] = useState(0);
    set = setCount;
    mine = state({ n: 0 });
    return `${count} ${mine.n}`;
  });
  set(1);
  set(0);
  mine.n = 1;
  await rendered();
  expect(root.text).toBe("0 1");
});

test("an assignment after the component left does nothing", async () => {
  const page = mount(() => ({ n: 0 }));
  const root = new TextRoot();
  let last = page.state;
  root.show(() => {
    last = state({ n: 0 });
    return String(last.n);
  });
  root.show(null);
  last.n = 1;
  await rendered();
  expect(root.text).toBe("");
});

describe("outside of rendering", () => {
  const message = "Call state() inside a view";

  test("it throws and says where it belongs", () => {
    expect(() => state({ n: 0 })).toThrow(message);
  });

  test("also after a rendering, in a browser and on the server", () => {
    mount(() => ({ n: 0 }));
    expect(() => state({ n: 0 })).toThrow(message);
    renderToString(h(() => h("p", null, String(state({ n: 1 }).n)), {}));
    expect(() => state({ n: 0 })).toThrow(message);
  });

  test("also in a timer or an event of a component", async () => {
    const page = mount(
      () => ({ late: () => state({ n: 0 }) }),
      () => "",
    );
    expect(() => page.state.late()).toThrow(message);
  });
});

describe("on the server", () => {
  test("it renders, with what was assigned while rendering", () => {
    const View = () => {
      const s = state({ n: 1, list: [] as number[] });
      if (s.list.length === 0) s.list.push(s.n, 2);
      return h("p", null, s.list.join("+"));
    };
    expect(renderToString(h(View, {}))).toBe("<p>1+2</p>");
  });

  test("each rendering has a state of its own", () => {
    const View = () => {
      const s = state({ n: 0 });
      s.n++;
      return `${s.n > 0}`;
    };
    expect(renderToString(h(View, {}))).toBe(renderToString(h(View, {})));
  });

  test("an error of one rendering leaves none of it to the next", () => {
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
