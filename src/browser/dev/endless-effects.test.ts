import { options } from "preact";
import { useEffect, useState } from "preact/hooks";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TextRoot } from "#test/text-root";
import "./development.ts";
import { state } from "../state.ts";
import { reportWarning } from "./report.ts";

vi.mock("./report.ts", () => ({ reportWarning: vi.fn() }));

const warnings = () => vi.mocked(reportWarning).mock.calls.map(([{ message }]) => message);

beforeEach(() => {
  vi.mocked(reportWarning).mockClear();
  options.requestAnimationFrame = (callback) => setTimeout(callback);
});

afterEach(() => {
  Reflect.deleteProperty(options, "requestAnimationFrame");
});

/** Renders a component until its effect has run a number of times. */
async function renderUntil(runs: number, useCounted: (run: () => void) => void): Promise<void> {
  let count = 0;
  const root = new TextRoot();
  root.renderComponent(function Clock() {
    useCounted(() => count++);
    return String(count);
  });
  await vi.waitFor(() => expect(count).toBeGreaterThanOrEqual(runs), { timeout: 20_000, interval: 5 });
  root.renderComponent(null);
}

const MESSAGE =
  "An effect of Clock changes the state each time it runs, so Clock is rendered again and again. Pass the values";

test("an effect without dependencies that sets a state in each run is reported once", async () => {
  await renderUntil(120, (run) => {
    const [n, setN] = useState(0);
    useEffect(() => {
      run();
      setN(n + 1);
    });
  });
  expect(warnings()).toEqual([expect.stringContaining(MESSAGE)]);
});

test("an effect whose dependencies differ at each rendering and that assigns to a state is reported", async () => {
  await renderUntil(60, (run) => {
    const s = state({ n: 0 });
    useEffect(() => {
      run();
      s.n++;
    }, [{}]);
  });
  expect(warnings()).toEqual([expect.stringContaining(MESSAGE)]);
});

test("an effect that changes the state later, or until it has its value, is not reported", async () => {
  await renderUntil(80, (run) => {
    const [n, setN] = useState(0);
    useEffect(() => {
      run();
      setTimeout(() => setN(n + 1));
    });
  });
  await renderUntil(60, (run) => {
    const [n, setN] = useState(0);
    const [, render] = useState(0);
    useEffect(() => {
      run();
      if (n % 40 < 39) setN(n + 1);
      else setTimeout(() => setN(n + 1));
    });
    void render;
  });
  expect(warnings()).toEqual([]);
});
