import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { StubServer } from "#test/stub-server";
import { checkMisuse, misuse } from "./misuse.ts";
import { reportWarning } from "./report.ts";

vi.mock("./report.ts", () => ({ reportWarning: vi.fn() }));

const page = new EventTarget();
const warnings = () => vi.mocked(reportWarning).mock.calls.map(([{ message }]) => message);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  vi.mocked(reportWarning).mockClear();
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Throws and catches the error of a check. */
function swallow(message: string): Error {
  const error = new TypeError(message);
  expect(() =>
    checkMisuse(() => {
      throw error;
    }),
  ).toThrow(error);
  return error;
}

describe("a mistake in the code", () => {
  test("is reported if a catch swallows its error", async () => {
    swallow("swallowed");
    expect(warnings()).toEqual([]);
    await vi.runAllTimersAsync();
    expect(warnings()).toEqual(["swallowed"]);
  });

  test.each(["error", "unhandledrejection"])("is not reported again after the event %s", async (type) => {
    const error = swallow("uncaught");
    swallow("other");
    page.dispatchEvent(Object.assign(new Event(type), { error, reason: error }));
    await vi.runAllTimersAsync();
    expect(warnings()).toEqual(["other"]);
  });

  test("is left to the log on the server", async () => {
    vi.stubGlobal("addEventListener", undefined);
    const error = new TypeError("on the server");
    expect(misuse(error)).toBe(error);
    await vi.runAllTimersAsync();
    expect(warnings()).toEqual([]);
  });
});

test("too many arguments of a server function, and arguments that cannot be sent, are reported if they are swallowed", async () => {
  const server = await StubServer.open();
  onTestFinished(() => server.close());
  const { stub } = await server.load();
  const report = vi.mocked((await import("./report.ts")).reportWarning); // of the new page
  const sign = stub("sign", ["name"]);
  await expect(sign("Ada", 2, 3)).rejects.toThrow("received 3 arguments");
  await expect(sign(new Map())).rejects.toThrow("cannot be sent");
  await vi.runAllTimersAsync();
  expect(report.mock.calls.map(([{ message }]) => message)).toEqual([
    expect.stringContaining("received 3 arguments"),
    expect.stringContaining("cannot be sent"),
  ]);
});
