import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recordedLog } from "#test/recorded-log";
import { RPCError } from "../errors.ts";
import { RequestError } from "../http/index.ts";
import { isStaleError, requireSameSignature } from "./call-checks.ts";
import type { FunctionDefinition } from "./server.ts";

const SERVER_BUILD = "0mwscmxpswkak";
const EARLIER = "0mwscmxpswka0";
const LATER = "0mwscmxpt0000";

function definition(hash: string | undefined): FunctionDefinition {
  const signature = { name: "save", file: "a.server.ts", line: 1, params: [], ...(hash ? { hash } : {}) };
  return { signature, options: {}, run: () => undefined, serialization: {} };
}

/** Returns the error of the check; `null` if it passes. */
function check(version: string | null | undefined, fn = definition("abc-_1"), build: string | null = SERVER_BUILD) {
  const settings = { build, log: recordedLog().log, connectionsBefore: () => 7 };
  try {
    requireSameSignature(fn, version, settings);
    return null;
  } catch (error) {
    return error;
  }
}

const gone = (version: string) => {
  const settings = { build: SERVER_BUILD, log: recordedLog().log, connectionsBefore: () => 7 };
  return () => requireSameSignature(undefined, version, settings);
};

describe("a call of a page of another build", () => {
  it.each([
    ["page", EARLIER],
    ["server", LATER],
    ["page", SERVER_BUILD],
  ])("is refused with the stale %s if its function has another signature (%s)", (stale, build) => {
    const error = check(`${build}.other-`);
    expect(error).toBeInstanceOf(RequestError);
    expect(error).toMatchObject({ code: "conflict", status: 409, details: { stale } });
    expect(error).toHaveProperty("headers", { "x-build": SERVER_BUILD, connection: "close" });
  });

  it.each([
    ["page", EARLIER],
    ["server", LATER],
  ])("is refused with the stale %s if its function is gone", (stale, build) => {
    expect(gone(`${build}.abc-_1`)).toThrow(expect.objectContaining({ code: "conflict", details: { stale } }));
  });

  it.each([EARLIER, LATER, SERVER_BUILD])("passes if the signature is the same (%s)", (build) => {
    expect(check(`${build}.abc-_1`)).toBeNull();
  });
});

describe("the check of builds", () => {
  it.each([null, undefined, ""])("passes for a call without a version (%j)", (version) => {
    expect(check(version)).toBeNull();
  });

  it("passes for any text that is not a version", () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !/^[0-9a-z]{13}\.[\w-]{6}$/.test(text)),
        (text) => {
          expect(check(text)).toBeNull();
          expect(gone(text)).not.toThrow();
        },
      ),
    );
  });

  it("passes in an application that was not built, and for a function without a hash", () => {
    expect(check(`${EARLIER}.other-`, definition("abc-_1"), null)).toBeNull();
    expect(check(`${EARLIER}.other-`, definition(undefined))).toBeNull();
  });

  it("is told apart from an error of the application with the same details", () => {
    expect(isStaleError(check(`${EARLIER}.other-`))).toBe(true);
    expect(isStaleError(new RPCError("conflict", "", { stale: "page" }))).toBe(false);
    expect(isStaleError(new RequestError("conflict", "", { details: { stale: "page" } }))).toBe(false);
  });

  it("logs the refused calls by reason, with the name of a function that exists and the open connections of such pages", () => {
    const { log, lines } = recordedLog();
    const settings = { build: SERVER_BUILD, log, connectionsBefore: () => 7 };
    for (const [fn, build] of [
      [definition("abc-_1"), EARLIER],
      [undefined, LATER],
    ] as const) {
      expect(() => requireSameSignature(fn, `${build}.other-`, settings)).toThrow();
    }
    expect(() => requireSameSignature(definition("abc-_1"), `${EARLIER}.abc-_1`, settings)).not.toThrow();
    expect(lines.map(({ fields }) => fields)).toEqual([
      { reason: "stale_page", name: "save", live_connections: 7 },
      { reason: "stale_server", name: null, live_connections: 7 },
    ]);
  });
});
