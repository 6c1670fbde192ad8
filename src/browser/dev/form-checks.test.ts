import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RPCError } from "../../errors.ts";
import type { FormState } from "../form.ts";
import { watchErrors } from "./form-checks.ts";

const reportWarning = vi.hoisted(() => vi.fn());
vi.mock("./report.ts", () => ({ reportWarning }));

beforeEach(() => {
  vi.useFakeTimers();
  reportWarning.mockReset();
});
afterEach(() => void vi.useRealTimers());

/** Returns the state of a form that was refused. */
function refusedForm({ isConnected = true } = {}): FormState {
  const error = new RPCError("conflict", "Taken.");
  const read = { error, errors: { name: "Taken." }, fn: { id: "save" }, element: { isConnected } };
  return read as unknown as FormState; // what the function reads of one
}

/** Watches a form whose view does this while it is rendered. */
function renderWatched(state: FormState, render: () => unknown): void {
  watchErrors(state);
  render();
}

describe("the error of a form's handle", () => {
  test("is reported if nothing reads it", () => {
    renderWatched(refusedForm(), () => undefined);
    vi.advanceTimersByTime(999);
    expect(reportWarning).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(String(reportWarning.mock.calls[0]?.[0])).toMatch(
      /^Error: The form of save was refused \("Taken\."\), but the user sees nothing, .* `action=\{save\}` without form\(\)/,
    );
  });

  test.each([
    ["the error is rendered", (state: FormState) => state.error?.message],
    ["the errors of the fields are rendered", (state: FormState) => state.errors.name],
    ["all of it is passed on", (state: FormState) => ({ ...state })],
    ["it is read in an effect", (state: FormState) => setTimeout(() => state.error, 500)],
    ["the form is sent again", (state: FormState) => Object.assign(state, { error: undefined, errors: {} })],
  ])("is not reported if %s", (_, render) => {
    const state = refusedForm();
    renderWatched(state, () => render(state));
    vi.advanceTimersByTime(2_000);
    expect(reportWarning).not.toHaveBeenCalled();
  });

  test("is not reported for a form that is no longer shown", () => {
    renderWatched(refusedForm({ isConnected: false }), () => undefined);
    vi.advanceTimersByTime(2_000);
    expect(reportWarning).not.toHaveBeenCalled();
  });

  test("is a plain property again afterwards", () => {
    const state = refusedForm();
    const before = { ...state };
    renderWatched(state, () => undefined);
    vi.advanceTimersByTime(2_000);
    expect({ ...state }).toEqual(before);
    expect(Object.getOwnPropertyDescriptor(state, "error")).toMatchObject({ writable: true, value: before.error });
  });
});
