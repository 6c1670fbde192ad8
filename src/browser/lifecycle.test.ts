import { h } from "preact";
import { useState } from "preact/hooks";
import { renderToString } from "preact-render-to-string";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { nextRender, TextRoot } from "#test/text-root";
import { reportWarning } from "./dev/report.ts";
import { on_mount, on_unmount } from "./lifecycle.ts";
import { state } from "./state.ts";

vi.mock("./dev/report.ts", () => ({ reportWarning: vi.fn() }));

const reported: unknown[] = [];

beforeEach(() => {
  reported.length = 0;
  vi.mocked(reportWarning).mockClear();
  vi.stubGlobal("reportError", (error: unknown) => reported.push(error)); // missing in Node
});

afterEach(() => vi.unstubAllGlobals());

test("on_mount runs once, after the component is in the page, and on_unmount when it is removed", async () => {
  const root = new TextRoot();
  const log: string[] = [];
  let s = { n: 0 };
  root.renderComponent(() => {
    s = state({ n: 0 });
    on_mount(() => {
      log.push(`mount: ${root.text}`);
      return () => log.push(`cleanup: ${root.text}`);
    });
    on_unmount(() => log.push(`unmount: ${root.text}`));
    return `shown ${s.n}`;
  });
  expect(log).toEqual(["mount: shown 0"]);
  s.n = 1;
  await nextRender();
  expect(log).toEqual(["mount: shown 0"]);
  root.renderComponent(null);
  expect(log.slice(1).sort()).toEqual(["cleanup: shown 1", "unmount: shown 1"]);
  root.renderComponent(null);
  expect(log.length).toBe(3);
});

test("on_mount runs again for a component that is removed and rendered again", async () => {
  const root = new TextRoot();
  const log: string[] = [];
  let s = { isOpen: true };
  const Inner = () => {
    on_mount(() => {
      log.push("in");
      return () => log.push("out");
    });
    return "inner";
  };
  root.renderComponent(() => {
    s = state({ isOpen: true });
    return s.isOpen ? h(Inner, {}) : "closed";
  });
  s.isOpen = false;
  await nextRender();
  s.isOpen = true;
  await nextRender();
  expect(log).toEqual(["in", "out", "in"]);
});

test("on_mount and on_unmount run the functions of the first rendering", async () => {
  const root = new TextRoot();
  const closed: string[] = [];
  let s = { n: 0 };
  root.renderComponent(() => {
    s = state({ n: 0 });
    let connection: string | undefined;
    on_mount(() => {
      connection = "opened";
    });
    on_unmount(() => closed.push(String(connection)));
    return String(s.n);
  });
  s.n = 1;
  await nextRender();
  root.renderComponent(null);
  expect(closed).toEqual(["opened"]);
});

test("the promise of an async on_mount is not a cleanup, and its rejection is an unhandled rejection", async () => {
  const rejected = new Promise((resolve) => process.once("unhandledRejection", resolve));
  const root = new TextRoot();
  root.renderComponent(() => {
    on_mount(async () => {
      throw new Error("late");
    });
    return "shown";
  });
  root.renderComponent(null);
  expect(reported).toEqual([]);
  expect(await rejected).toEqual(new Error("late"));
});

describe("an error in a lifecycle function", () => {
  test("is reported and does not affect other components, in on_mount", () => {
    const root = new TextRoot();
    const log: string[] = [];
    const Broken = () => {
      on_mount(() => {
        throw new Error("mount");
      });
      return "";
    };
    const Whole = () => {
      on_mount(() => log.push("whole"));
      return "";
    };
    root.renderComponent(() => [h(Broken, {}), h(Whole, {})]);
    expect(log).toEqual(["whole"]);
    expect(reported).toEqual([new Error("mount")]);
  });

  test("is reported and does not affect other cleanups, in a cleanup and in on_unmount", () => {
    const root = new TextRoot();
    const log: string[] = [];
    root.renderComponent(() => {
      on_mount(() => () => {
        throw new Error("cleanup");
      });
      on_unmount(() => {
        throw new Error("unmount");
      });
      on_unmount(() => log.push("last"));
      return "shown";
    });
    root.renderComponent(null);
    expect(log).toEqual(["last"]);
    expect(reported.map(String).sort()).toEqual(["Error: cleanup", "Error: unmount"]);
    expect(root.text).toBe("");
  });
});

test("on_mount runs once for a rendering that Preact restarts", () => {
  const root = new TextRoot();
  const log: string[] = [];
  root.renderComponent(() => {
    const [n, set] = useState(0);
    on_mount(() => log.push(`mount ${n}`));
    if (n < 2) set(n + 1); // renders again before anything is shown
    return String(n);
  });
  expect(log).toEqual(["mount 0"]);
  expect(root.text).toBe("2");
});

test("on_mount and on_unmount do not run on the server", () => {
  const log: string[] = [];
  const View = () => {
    on_mount(() => log.push("mount"));
    on_unmount(() => log.push("unmount"));
    return "shown";
  };
  expect(renderToString(h(View, {}))).toBe("shown");
  expect(log).toEqual([]);
});

test.each([on_mount, on_unmount])("%o throws outside rendering", (call) => {
  expect(() => call(() => {})).toThrow(
    `Call ${call.name}() inside a view, at the top of its function: not in an event handler, in on_mount, after an await`,
  );
});

test("an async on_mount whose function returns a cleanup is reported in development, at the call of on_mount", async () => {
  new TextRoot().renderComponent(() => {
    on_mount(async () => () => {});
    return "text";
  });
  await vi.waitFor(() => expect(reportWarning).toHaveBeenCalledOnce(), 30_000);
  const [warning] = vi.mocked(reportWarning).mock.calls[0] ?? [];
  expect(warning?.message).toMatch(/^The function of on_mount is async and returns a function, which is never called/);
  expect(warning?.stack).toContain("lifecycle.test.ts");
});

test("an async on_mount without a cleanup, and a cleanup of one that is not async, are not reported", async () => {
  const done = vi.fn();
  new TextRoot().renderComponent(() => {
    on_mount(async () => 1);
    on_mount(() => () => {});
    on_mount(async () => done());
    return "text";
  });
  await vi.waitFor(() => expect(done).toHaveBeenCalledOnce(), 30_000);
  await new Promise((resolve) => setTimeout(resolve)); // after all promises
  expect(reportWarning).not.toHaveBeenCalled();
});

test.each([
  ["on_mount", undefined, "a value of the type undefined"],
  ["on_mount", Promise.resolve(), "a promise"],
  ["on_unmount", null, "null"],
  ["on_unmount", 5, "a value of the type number"],
] as const)("%s(%s) is an error in development, while the component renders", (caller, argument, received) => {
  const call = { on_mount, on_unmount }[caller] as (fn: unknown) => void;
  const render = () =>
    new TextRoot().renderComponent(() => {
      call(argument);
      return "text";
    });
  expect(render).toThrow(
    `${caller}() takes a function, and received ${received}. Pass the function without calling it`,
  );
});
