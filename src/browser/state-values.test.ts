import { h, isValidElement } from "preact";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { mountState } from "#test/mounted-state";
import { nextRender } from "#test/text-root";

test("reading returns the same proxy each time, also after renderings", async () => {
  const page = mountState(() => ({ inner: { deep: [{ a: 1 }] } }));
  const { state: first } = page;
  const item = first.inner.deep[0];
  expect(first.inner).toBe(first.inner);
  first.inner.deep.push({ a: 2 });
  await nextRender();
  expect(page.state).toBe(first);
  expect(page.state.inner.deep[0]).toBe(item);
});

describe("a proxy that is assigned to a state", () => {
  test("is stored as its original object", () => {
    const plain = { a: 1 };
    const page = mountState(() => ({
      one: plain as { a: number } | null,
      other: null as { a: number } | null,
      list: [] as object[],
    }));
    page.state.other = page.state.one;
    page.state.list.push(page.state.one as object);
    expect(page.state.other).toBe(page.state.one);
    expect(page.state.list[0]).toBe(page.state.one);
    const before = Object.getOwnPropertyDescriptor(page.state, "other");
    expect(before?.value).toBe(plain); // a descriptor has the original object
  });

  test("is not wrapped twice inside another object", () => {
    const page = mountState(() => ({ one: { a: 1 }, box: {} as { one?: { a: number } } }));
    page.state.box = { one: page.state.one };
    expect(page.state.box.one).toBe(page.state.one);
  });

  test("re-renders both components if it belongs to another state", async () => {
    const owner = mountState(() => ({ item: { n: 1 } }));
    const borrower = mountState(() => ({ item: null as { n: number } | null }));
    borrower.state.item = owner.state.item;
    await nextRender();
    (borrower.state.item as { n: number }).n = 2;
    await nextRender();
    expect(owner.text()).toBe('{"item":{"n":2}}');
    expect(borrower.text()).toBe('{"item":{"n":2}}');
  });
});

describe("an array search finds an item as an original or as a proxy", () => {
  test.each(["includes", "indexOf", "lastIndexOf"] as const)("%s", (search) => {
    const a = { id: "a" };
    const b = { id: "b" };
    const page = mountState(() => ({ list: [] as { id: string }[] }));
    page.state.list.push(a, b);
    const found = search === "includes" ? true : 1;
    expect(page.state.list[search](b)).toBe(found); // the original
    expect(page.state.list[search](page.state.list[1] as object as { id: string })).toBe(found); // the proxy
    page.state.list = page.state.list.filter(() => true); // an array of proxies
    expect(page.state.list[search](b)).toBe(found);
    expect(page.state.list[search]({ id: "b" })).toBe(search === "includes" ? false : -1);
  });

  test("starts at the given index", () => {
    const page = mountState(() => ({ list: [1, 2, 1] }));
    expect(page.state.list.indexOf(1, 1)).toBe(2);
    expect(page.state.list.lastIndexOf(1, 1)).toBe(0);
    expect(page.state.list.includes(2, 2)).toBe(false);
  });
});

test("spread, JSON, iteration and array methods work on proxies", () => {
  const page = mountState(() => ({ list: [{ n: 1 }, { n: 2 }], map: { a: 1 } }));
  expect({ ...page.state.map }).toEqual({ a: 1 });
  expect(JSON.stringify(page.state)).toBe('{"list":[{"n":1},{"n":2}],"map":{"a":1}}');
  expect([...page.state.list].map((item) => item.n)).toEqual([1, 2]);
  expect(page.state.list.toSpliced(0, 1)).toEqual([{ n: 2 }]);
  expect(page.state.list.concat([{ n: 3 }]).length).toBe(3);
  expect(Array.isArray(page.state.list)).toBe(true);
  expect(Object.entries(page.state.map)).toEqual([["a", 1]]);
});

describe("a value that is not a plain object or array is stored as it is", () => {
  beforeEach(() => vi.stubGlobal("document", undefined)); // other files of the process may have one
  class Account {
    balance = 1;
  }
  const kept = {
    date: new Date(0),
    map: new Map([["a", 1]]),
    set: new Set([1]),
    bytes: new Uint8Array(1),
    instance: new Account(),
    promise: Promise.resolve(),
    call: () => 1,
    frozen: Object.freeze({ a: Object.freeze([1]) }),
    markup: h("p", null, "text"),
  };

  test.each(Object.entries(kept))("%s", (key, value) => {
    const page = mountState(
      () => ({ ...kept }),
      () => "",
    );
    expect(page.state[key as keyof typeof kept]).toBe(value);
  });

  test("and its methods work", () => {
    const page = mountState(
      () => ({ ...kept }),
      () => "",
    );
    expect(page.state.date.getTime()).toBe(0);
    expect(page.state.map.get("a")).toBe(1);
    expect(isValidElement(page.state.markup)).toBe(true);
  });

  test("is observed if it has no prototype, or a property named constructor", async () => {
    const page = mountState(() => ({ bare: Object.create(null) as { a?: number }, car: { constructor: "Lotus" } }));
    page.state.bare.a = 1;
    await nextRender();
    page.state.car.constructor = "Lola";
    await nextRender();
    expect(page.text()).toBe('{"bare":{"a":1},"car":{"constructor":"Lola"}}');
  });
});

describe("an instance of a class in development, in a browser", () => {
  class Account {
    balance = 1;
  }
  class CallError extends Error {}
  const message = "state() cannot observe changes in an instance of Account. Store a plain object or an array instead.";

  beforeEach(() => vi.stubGlobal("document", {}));
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
  });

  test("is refused when it is assigned, also below other objects", () => {
    const page = mountState(() => ({ account: null as unknown, deep: { list: [] as unknown[] } }));
    expect(() => (page.state.account = new Account())).toThrow(message);
    expect(() => page.state.deep.list.push(new Account())).toThrow(message);
    expect(page.state).toEqual({ account: null, deep: { list: [] } });
  });

  test("is refused when it is read, if it was in the initial values or in an assigned object", () => {
    const page = mountState(
      () => ({ account: new Account(), other: null as { account: Account } | null }),
      () => "",
    );
    expect(() => page.state.account).toThrow(message);
    page.state.other = { account: new Account() };
    expect(() => page.state.other?.account).toThrow(message);
    expect(() =>
      mountState(
        () => new Account(),
        () => "",
      ),
    ).toThrow(message);
  });

  test.each([
    ["a built-in class", new Date(0)],
    ["a collection", new Map()],
    ["an error", new CallError("late")],
    ["a frozen instance", Object.freeze(new Account())],
    ["an object without a prototype", Object.create(null)],
    ["an object with a property named constructor", { constructor: Account }],
    ["markup", h("p", null)],
    ["a function", () => 1],
  ])("is none: %s", (_kind, value) => {
    const page = mountState(
      () => ({ value: null as unknown }),
      () => "",
    );
    page.state.value = value;
    expect(page.state.value).toEqual(value);
  });

  test("is stored as it is in production", () => {
    vi.stubEnv("NODE_ENV", "production");
    const account = new Account();
    const page = mountState(
      () => ({ account }),
      () => "",
    );
    expect(page.state.account).toBe(account);
  });
});
