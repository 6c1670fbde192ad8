import { type Component, type ComponentType, createContext, h } from "preact";
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
