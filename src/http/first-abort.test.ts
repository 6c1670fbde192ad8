import { describe, expect, it } from "vitest";
import { firstAbort } from "./request-context.ts";

describe("firstAbort", () => {
  it.each([0, 1])("aborts with signal %i, with its reason, and keeps the reason when the other one aborts", (index) => {
    const controllers = [new AbortController(), new AbortController()] as const;
    const signal = firstAbort(controllers[0].signal, controllers[1].signal);
    expect(signal.aborted).toBe(false);
    controllers[index]?.abort("first");
    expect([signal.aborted, signal.reason]).toEqual([true, "first"]);
    controllers[1 - index]?.abort("second");
    expect(signal.reason).toBe("first");
  });

  it("is aborted if one of the signals is, with the reason of the first that is", () => {
    const signal = firstAbort(new AbortController().signal, AbortSignal.abort("one"), AbortSignal.abort("two"));
    expect([signal.aborted, signal.reason]).toEqual([true, "one"]);
  });
});
