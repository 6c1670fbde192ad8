import { type Component, type ComponentType, createContext, h } from "preact";
import { useContext } from "preact/hooks";
import { beforeEach, describe, expect, test } from "vitest";
import { rendered, TextRoot } from "#test/text-root";
import "./development.ts";
import { on_mount, on_unmount } from "./lifecycle.ts";
import { state } from "./state.ts";

describe("a promise where markup should be", () => {
  test("is an error that names the component", () => {
    const Later = async () => "late"; // a promise is an object, and Preact's types take those for markup
    expect(() => new TextRoot().show(() => h(Later, {}))).toThrow(
      "Later returned a promise. Components are synchronous",
    );
  });

  test("other errors stay what they are", () => {
    const broken = new Error("broken");
    const Broken = () => {
      throw broken;
    };
    expect(() => new TextRoot().show(() => h(Broken, {}))).toThrow(broken);
  });
});

describe("an edit", () => {
  let living: Component | undefined;
  let log: string[];

  beforeEach(() => {
    log = [];
  });

  /** What hot reload does: another function, the same component. */
  async function edit(component: ComponentType): Promise<void> {
    if (!living) throw new Error("nothing was rendered");
    living.constructor = component;
    living.forceUpdate();
    await rendered();
  }

  test("keeps the state, and begins anew what on_mount began", async () => {
    const root = new TextRoot();
    root.show(function Before(this: Component) {
      living = this;
      const s = state({ n: 1 });
      on_mount(() => {
        log.push("old in");
        s.n++;
        return () => log.push("old out");
      });
      on_unmount(() => log.push("old left"));
      return `old ${s.n}`;
    });
    await rendered();
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
    root.show(null);
    expect(log).toEqual(["old in", "old left", "old out", "new in", "new left", "new out"]);
  });

  test("of its states gives it new ones", async () => {
    const root = new TextRoot();
    root.show(function Before(this: Component) {
      living = this;
      return `${state({ a: 1 }).a}`;
    });
    await edit(function After() {
      on_mount(() => log.push("in"));
      return `${state({ b: 2 }).b} ${state({ a: 3 }).a}`;
    });
    expect(root.text).toBe("2 3");
    expect(log).toEqual(["in"]);
  });

  test("leaves it with the contexts that it reads", async () => {
    const Name = createContext("");
    const root = new TextRoot();
    let outer = { name: "Ada" };
    const inner = h(function Before(this: Component) {
      living = this;
      return useContext(Name);
    }, {});
    root.show(() => {
      outer = state({ name: "Ada" });
      return h(Name.Provider, { value: outer.name, children: inner });
    });
    await edit(() => `${useContext(Name)}!`);
    outer.name = "Grace";
    await rendered();
    expect(root.text).toBe("Grace!");
  });
});
