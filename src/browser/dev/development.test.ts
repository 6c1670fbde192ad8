import { type Component, type ComponentChild, type ComponentType, createContext, Fragment, h, options } from "preact";
import { useContext } from "preact/hooks";
import { beforeEach, describe, expect, test } from "vitest";
import { nextRender, TextRoot } from "#test/text-root";
import "./development.ts";
import { on_mount, on_unmount } from "../lifecycle.ts";
import { state } from "../state.ts";

describe("an error of a component in development", () => {
  test("names the component that returned a promise", () => {
    const AsyncComponent = async () => "late"; // Preact's types accept a promise, since it is an object
    expect(() => new TextRoot().renderComponent(() => h(AsyncComponent, {}))).toThrow(
      "AsyncComponent returned a promise. Components are synchronous",
    );
  });

  test("names the element of a promise, also in a list", () => {
    const late = Promise.resolve("late") as unknown as string; // Preact's types reject a promise
    expect(() => new TextRoot().renderComponent(() => h(Fragment, null, "a", [late]))).toThrow(
      "A promise cannot be rendered in <>. Call the server function in an event handler or in on_mount",
    );
  });

  test.each(["action", "formAction"])("names an %s that is a function where forms are not sent", (name) => {
    const save = Object.assign(async () => null, { id: "save" });
    expect(() => new TextRoot().renderComponent(() => h("form", { [name]: save }))).toThrow(
      `The ${name} of <form> is a function, but no module of the page`,
    );
    expect(() => new TextRoot().renderComponent(() => h(Fragment, null, "text"))).not.toThrow();
  });

  test.each<[string, () => ComponentChild, string]>([
    ["in an element", () => h(Fragment, null, "a", [{ name: "Ada", age: 1 } as never]), "<> of Row. Render one of"],
    ["that a component returns", () => ({ name: "Ada", age: 1 }) as never, "Row. Render one of"],
  ])("names the fields of an object %s", (_what, Row, where) => {
    const Outer = () => h(Object.assign(Row, { displayName: "Row" }), {});
    expect(() => new TextRoot().renderComponent(Outer)).toThrow(
      `An object (Object) cannot be rendered in ${where} its fields (name, age), for example \`{user.name}\``,
    );
  });

  test("names a state that is rendered, once, and the view shows its last rendering", async () => {
    const root = new TextRoot();
    const errors: unknown[] = [];
    options.debounceRendering = (process) => {
      queueMicrotask(() => {
        try {
          process();
        } catch (error) {
          errors.push(error);
        }
      });
    };
    let book: { picked: unknown; name: string } = { picked: null, name: "" };
    root.renderComponent(function Book() {
      book = state({ picked: null as unknown, name: "last" });
      return h(Fragment, null, [book.name, book.picked as null]);
    });
    book.picked = { name: "Ada" };
    await new Promise((resolve) => setTimeout(resolve));
    Reflect.deleteProperty(options, "debounceRendering");
    expect(errors.map(String)).toEqual([
      expect.stringContaining("An object (Object) cannot be rendered in <> of Book"),
    ]);
    expect([root.text, Object.keys(book.picked as object)]).toEqual(["last", ["name"]]);
  });

  test("is not caused by an object as the child of a component, and by an instance of String", () => {
    const root = new TextRoot();
    const Format = ({ children }: { children?: unknown }) => JSON.stringify(children);
    root.renderComponent(() => [h(Format as never, {}, { a: 1 }), new String("text") as string]);
    expect(root.text).toBe('{"a":1}text');
  });

  const reactElement = { $$typeof: Symbol.for("react.transitional.element"), type: "b", props: {} };
  const asMarkup = reactElement as unknown as string; // Preact's types do not accept it

  test.each<[string, () => ComponentChild]>([
    ["an element of React that a component returned", () => asMarkup],
    ["an element of React in a list", () => ["a", [asMarkup]]],
    ["an element of React in an element", () => h(Fragment, null, "a", [asMarkup])],
  ])("names %s", (_what, render) => {
    const Chart = () => render();
    expect(() => new TextRoot().renderComponent(() => h(Chart, {}))).toThrow("<b> was made with React");
  });

  test("names a component of React, and one whose hooks are React's", () => {
    const memo = { $$typeof: Symbol.for("react.memo"), type: function Chart() {} };
    expect(() => new TextRoot().renderComponent(() => h(memo as unknown as "p", {}))).toThrow("<Chart> was made with");
    const dispatcher = null as unknown as { useState(): void }; // as in React without its renderer
    const Hooked = () => dispatcher.useState() as undefined;
    expect(() => new TextRoot().renderComponent(() => h(Hooked, {}))).toThrow("<Hooked> was made with React");
  });

  test("leaves other errors unchanged", () => {
    const broken = new Error("broken");
    const Broken = () => {
      throw broken;
    };
    expect(() => new TextRoot().renderComponent(() => h(Broken, {}))).toThrow(broken);
  });
});

describe("a hot reload", () => {
  let component: Component | undefined;
  let log: string[];

  beforeEach(() => {
    log = [];
  });

  /** Replaces the function of the rendered component, as hot reload does. */
  async function edit(replacement: ComponentType): Promise<void> {
    if (!component) throw new Error("No component was rendered.");
    component.constructor = replacement;
    component.forceUpdate();
    await nextRender();
  }

  test("keeps the state, runs the cleanups and runs the new on_mount", async () => {
    const root = new TextRoot();
    root.renderComponent(function Before(this: Component) {
      component = this;
      const s = state({ n: 1 });
      on_mount(() => {
        log.push("old in");
        s.n++;
        return () => log.push("old out");
      });
      on_unmount(() => log.push("old left"));
      return `old ${s.n}`;
    });
    await nextRender();
    expect(root.text).toBe("old 2");
    await edit(function After() {
      const s = state({ n: 1 });
      on_mount(() => {
        log.push("new in");
        return () => log.push("new out");
      });
      on_unmount(() => log.push("new left"));
      return `new ${s.n}`;
    });
    expect(root.text).toBe("new 2");
    root.renderComponent(null);
    expect(log).toEqual(["old in", "old left", "old out", "new in", "new left", "new out"]);
  });

  /** Renders a component with states, changes them, edits it, and returns what it then shows. */
  async function showEdited(before: () => object[], change: (states: never[]) => void, after: () => object[]) {
    const root = new TextRoot();
    let states: object[] = [];
    root.renderComponent(function Before(this: Component) {
      component = this;
      states = before();
      return "";
    });
    change(states as never[]);
    await nextRender();
    await edit(() => JSON.stringify(after()));
    return root.text;
  }

  test("adds new fields of a state, deletes removed ones, and keeps the values of the others", async () => {
    const shown = await showEdited(
      () => [state({ guests: ["Ada"], name: "", error: "none" })],
      ([book]: { guests: string[]; name: string }[]) => {
        if (book) book.name = "Grace";
        book?.guests.push("Joan");
      },
      () => [state({ guests: ["Ada"], name: "", filter: "all" })],
    );
    expect(JSON.parse(shown)).toEqual([{ guests: ["Ada", "Joan"], name: "Grace", filter: "all" }]);
  });

  test("gives a field the new initial value if the edit has changed it", async () => {
    const shown = await showEdited(
      () => [state({ size: { width: 1, unit: "px" }, name: "", start: new Date(0), of: [1, [2]] })],
      ([s]: { size: { width: number }; name: string; of: unknown[] }[]) => {
        if (s) Object.assign(s, { name: "Grace" });
        if (s) s.size.width = 5;
        s?.of.push(3);
      },
      () => [state({ size: { width: 1, unit: "em" }, name: "", start: new Date(1), of: [1, [2]] })],
    );
    const [merged] = JSON.parse(shown);
    expect(merged).toEqual({
      size: { width: 1, unit: "em" },
      name: "Grace",
      start: new Date(1).toJSON(),
      of: [1, [2], 3],
    });
  });

  test("keeps fields that were added while the page is open", async () => {
    const shown = await showEdited(
      () => [state<Record<string, number>>({ a: 1 })],
      ([s]: Record<string, number>[]) => Object.assign(s ?? {}, { later: 2 }),
      () => [state<Record<string, number>>({ a: 1, b: 3 })],
    );
    expect(JSON.parse(shown)).toEqual([{ a: 1, later: 2, b: 3 }]);
  });

  test("does not call getters of a state", async () => {
    const fail = (): never => {
      throw new Error("called");
    };
    const root = new TextRoot();
    root.renderComponent(() => {
      const s = state({
        n: 1,
        get late() {
          return fail();
        },
      });
      return String(s.n);
    });
    expect(root.text).toBe("1");
  });

  const change = (states: { open: boolean }[]) => {
    for (const one of states) one.open = true;
  };

  test.each<[string, () => object[], () => object[], object[]]>([
    [
      "a state above the first is added",
      () => [state({ open: false })],
      () => [state({ open: false, filter: "" }), state({ open: false })],
      [{ open: false, filter: "" }, { open: false }],
    ],
    [
      "a state is removed",
      () => [state({ open: false, filter: "" }), state({ open: false })],
      () => [state({ open: false })],
      [{ open: false }],
    ],
    [
      "two states change places",
      () => [state({ open: false, filter: "" }), state({ open: false })],
      () => [state({ open: false }), state({ open: false, filter: "" })],
      [{ open: false }, { open: false, filter: "" }],
    ],
  ])("makes new states if %s", async (_what, before, after, expected) => {
    expect(JSON.parse(await showEdited(before, change, after))).toEqual(expected);
  });

  test("keeps the states if an on_mount is added between them, and runs it once", async () => {
    const shown = await showEdited(
      () => [state({ open: false, a: 1 }), state({ open: false, b: 2 })],
      change,
      () => {
        const first = state({ open: false, a: 1 });
        on_mount(() => log.push("in"));
        return [first, state({ open: false, b: 2, c: 3 })];
      },
    );
    expect(JSON.parse(shown)).toEqual([
      { open: true, a: 1 },
      { open: true, b: 2, c: 3 },
    ]);
    expect(log).toEqual(["in"]);
  });

  test("keeps the state after an edit with an error", async () => {
    const root = new TextRoot();
    let open = { n: 0 };
    root.renderComponent(function Before(this: Component) {
      component = this;
      open = state({ n: 0 });
      return String(open.n);
    });
    open.n = 5;
    await nextRender();
    const errors: unknown[] = [];
    options.debounceRendering = (process) => {
      try {
        process();
      } catch (error) {
        errors.push(error);
      }
    };
    await edit(() => {
      throw new Error("broken");
    });
    Reflect.deleteProperty(options, "debounceRendering");
    expect(errors.map(String)).toEqual(["Error: broken"]);
    await edit(() => `fixed ${state({ n: 0 }).n}`);
    expect(root.text).toBe("fixed 5");
  });

  test("keeps the component subscribed to its contexts", async () => {
    const Name = createContext("");
    const root = new TextRoot();
    let outer = { name: "Ada" };
    const inner = h(function Before(this: Component) {
      component = this;
      return useContext(Name);
    }, {});
    root.renderComponent(() => {
      outer = state({ name: "Ada" });
      return h(Name.Provider, { value: outer.name, children: inner });
    });
    await edit(() => `${useContext(Name)}!`);
    outer.name = "Grace";
    await nextRender();
    expect(root.text).toBe("Grace!");
  });
});
