import { createContext, h } from "preact";
import {
  useCallback,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useReducer,
  useRef,
  useState,
} from "preact/hooks";
import { renderToString } from "preact-render-to-string";
import { describe, expect, it } from "vitest";
import { explainError, hookAdvice } from "./explain-error.ts";

const HOOKS: readonly [line: string, call: () => unknown][] = [
  ["useState(0)", () => useState(0)],
  ["useReducer((state) => state, 0)", () => useReducer((state) => state, 0)],
  ["useRef<string | null>(null)", () => useRef<string | null>(null)],
  ["useMemo(() => 1, [])", () => useMemo(() => 1, [])],
  ["useCallback(() => 1, [])", () => useCallback(() => 1, [])],
  ["useContext(context)", () => useContext(createContext(1))],
  ["useEffect(() => {})", () => useEffect(() => {})],
  ["useLayoutEffect(() => {})", () => useLayoutEffect(() => {})],
  ["useId()", () => useId()],
];

function adviceFor(work: () => unknown, line: string): string {
  try {
    work();
  } catch (error) {
    return hookAdvice(error, line);
  }
  throw new Error("The code threw no error.");
}

describe("the advice about a hook in the function of a page", () => {
  it.each(HOOKS)("names the hook, and the view: %s", (line, call) => {
    renderToString(h("p", null)); // as after the page of another request
    const name = line.slice(0, line.search(/[<(]/));
    expect(adviceFor(call, `  const value = ${line};`)).toBe(
      `${name} was called where no component is rendered. Pages cannot use hooks: their functions run on the server, ` +
        "once for each request. Move this part into a view, which can use hooks, and render the view in the page.",
    );
  });

  it("is part of the error as it is shown", () => {
    try {
      useState(0);
    } catch (error) {
      expect(explainError(error, process.cwd()).message).toMatch(/\(reading '__H'\)\n.* Pages cannot use hooks/);
      return;
    }
    throw new Error("The hook threw no error.");
  });

  it("names no hook if the line is unknown", () => {
    expect(hookAdvice(new TypeError("Cannot read properties of undefined (reading '__H')"), "")).toMatch(/^A hook was/);
  });

  it("is absent for other errors", () => {
    const other = () => (null as unknown as { context: string }).context;
    expect(adviceFor(other, "useContext(x)")).toBe("");
    expect(hookAdvice(new TypeError("Failed"), "useState(0)")).toBe("");
    expect(hookAdvice(new Error("Cannot read properties of null (reading '__H')"), "useState(0)")).toBe("");
    expect(hookAdvice("Cannot read properties of null (reading '__H')", "useState(0)")).toBe("");
  });
});
