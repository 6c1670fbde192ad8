import { type Component, type ComponentChild, type ComponentType, createContext, Fragment, h } from "preact";
import { useContext } from "preact/hooks";
import { beforeEach, describe, expect, test } from "vitest";
import { nextRender, TextRoot } from "#test/text-root";
import "./development.ts";
import { on_mount, on_unmount } from "./lifecycle.ts";
import { state } from "./state.ts";

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

  test("resets the state if the component's calls have changed", async () => {
    const root = new TextRoot();
    root.renderComponent(function Before(this: Component) {
      component = this;
      return `${state({ a: 1 }).a}`;
    });
    await edit(function After() {
      on_mount(() => log.push("in"));
      return `${state({ b: 2 }).b} ${state({ a: 3 }).a}`;
    });
    expect(root.text).toBe("2 3");
    expect(log).toEqual(["in"]);
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
