import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { compiledQuery } from "#test/compiled-app";
import { recordedLog } from "#test/recorded-log";
import { requestContext, runWithCookie, signInCookie, testConfig } from "#test/request-context";
import { RPCError, ValueError } from "../../errors.ts";
import { ContextValues, once, redirect, request, runInContext } from "../../http/index.ts";
import { MAX_QUERY_VALUE_BYTES } from "../../protocol/index.ts";
import { revalidate } from "../../server/index.ts";
import { currentSession, session, type VerifiedSession } from "../../session/index.ts";
import { channel, listen, presence, publish } from "../index.ts";
import type { QueryCall } from "./definition.ts";
import { queryOf } from "./query.ts";
import { type QueryHost, receiverError, runQuery } from "./query-run.ts";

const runShared = (call: QueryCall, host: QueryHost) => runQuery(call, host, undefined);

const { log, lines } = recordedLog();
const host: QueryHost = {
  queries: new Map(),
  config: testConfig(),
  log,
  build: null,
  rpc_timeout: undefined,
  provided: () => new ContextValues(),
};

/** Returns a query without arguments as a call. */
function callOf(fn: () => unknown, options: { readonly rpc_timeout?: number } = {}): QueryCall {
  const definition = queryOf(compiledQuery("cards", { on: ["cards"], ...options }, fn));
  if (!definition) throw new Error("It is no query.");
  return { definition, args: [], channels: ["cards"], id: "0123456789abcdef" };
}

const sessionOf = (sub: string): VerifiedSession | null =>
  currentSession(requestContext(signInCookie(sub), host.config));

beforeEach(() => {
  lines.length = 0;
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe("a run of a query", () => {
  it("returns the value as JSON, as a server function would", async () => {
    const outcome = await runShared(
      callOf(async () => [{ id: 1, at: new Date(0) }]),
      host,
    );
    expect(outcome).toEqual({ kind: "value", json: '[{"id":1,"at":"1970-01-01T00:00:00.000Z"}]' });
    expect(
      await runShared(
        callOf(() => undefined),
        host,
      ),
    ).toEqual({ kind: "value", json: "null" });
  });

  it("does not reject, and returns what the query throws", async () => {
    const error = new Error("no database");
    const thrown = callOf(() => {
      throw error;
    });
    expect(await runShared(thrown, host)).toEqual({ kind: "failed", cause: error });
    expect(
      await runShared(
        callOf(() => Promise.reject(error)),
        host,
      ),
    ).toEqual({ kind: "failed", cause: error });
    expect(
      await runShared(
        callOf(() => redirect("/login")),
        host,
      ),
    ).toMatchObject({ kind: "failed" });
    expect(
      await runShared(
        callOf(() => new Response()),
        host,
      ),
    ).toMatchObject({
      kind: "failed",
      cause: { name: "SerializeError", message: expect.stringContaining("cards (src/cards.server.ts:1)") },
    });
  });

  it.each([
    { bytes: MAX_QUERY_VALUE_BYTES - 1, kind: "value" },
    { bytes: MAX_QUERY_VALUE_BYTES, kind: "value" },
    { bytes: MAX_QUERY_VALUE_BYTES + 1, kind: "failed" },
  ])("of $bytes bytes of JSON is a $kind", async ({ bytes, kind }) => {
    const outcome = await runShared(
      callOf(() => `${"x".repeat(bytes - 4)}é`),
      host,
    ); // two quotes, and two bytes of é
    expect(outcome.kind).toBe(kind);
    if (outcome.kind !== "failed") return;
    expect(outcome.cause).toEqual(
      new RangeError(
        `The value of the query cards (src/cards.server.ts:1) has ${bytes} bytes of JSON; the maximum is 262144. Return fewer ` +
          "rows or members: what one view shows, such as one page of a list.",
      ),
    );
  });

  it("finds what the application provides, and its results of once() belong to the run", async () => {
    let count = 0;
    const load = once(() => ++count);
    const call = callOf(() => [load(), load()]);
    expect(await runShared(call, host)).toEqual({ kind: "value", json: "[1,1]" });
    expect(await runShared(call, host)).toEqual({ kind: "value", json: "[2,2]" });
  });
});

describe("the time limit of a run", () => {
  it.each([
    { of: "the query", options: { rpc_timeout: 0.02 }, seconds: 60 },
    { of: "the application", options: {}, seconds: 0.02 },
  ])("is that of $of: the run fails, and reports when the function has ended", async ({ options, seconds }) => {
    let finish: (() => void) | undefined;
    const call = callOf(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
      options,
    );
    const outcome = await runShared(call, { ...host, rpc_timeout: seconds });
    expect(outcome).toMatchObject({ kind: "failed", cause: { code: "timeout" } });
    if (outcome.kind !== "failed") throw new Error("It has not failed.");
    let hasEnded = false;
    void outcome.unfinished?.then(() => {
      hasEnded = true;
    });
    await sleep(5);
    expect(hasEnded).toBe(false);
    finish?.();
    await outcome.unfinished;
    expect(hasEnded).toBe(true);
  });

  it("is 30 seconds without either, so that a run that hangs does not keep its query for ever", async () => {
    vi.useFakeTimers();
    const running = runShared(
      callOf(() => new Promise(() => undefined)),
      host,
    );
    await vi.advanceTimersByTimeAsync(29_000);
    expect(await Promise.race([running, "running"])).toBe("running");
    await vi.advanceTimersByTimeAsync(1_001);
    vi.useRealTimers();
    expect(await running).toMatchObject({ kind: "failed", cause: { code: "timeout" } });
  });
});

const reads: [name: string, read: () => unknown][] = [
  ["session.user()", () => session.user()],
  ["session.require()", () => session.require()],
  ["session.sid", () => session.sid],
  ["session.issued_at", () => session.issued_at],
];

describe("a shared run that reads the session", () => {
  it.each(reads)("is discarded: %s [QUERY-11]", async (_, read) => {
    expect(await runShared(callOf(read), host)).toEqual({ kind: "session" });
  });

  it.each(reads)("is discarded also if the query catches the error of %s [QUERY-12]", async (_, read) => {
    const caught = callOf(async () => {
      try {
        read();
      } catch {}
      return "the same for all";
    });
    expect(await runShared(caught, host)).toEqual({ kind: "session" });
  });

  it("is discarded if only a part of the value reads it while it is serialised [QUERY-13]", async () => {
    expect(
      await runShared(
        callOf(() => ({ toJSON: () => session.user()?.sub ?? null })),
        host,
      ),
    ).toEqual({ kind: "session" });
    const caught = {
      toJSON() {
        try {
          return session.sid;
        } catch {
          return null;
        }
      },
    };
    expect(
      await runShared(
        callOf(() => caught),
        host,
      ),
    ).toEqual({ kind: "session" });
  });

  it("is discarded if the query then fails with an error of its own, or exceeds its limit", async () => {
    const fails = callOf(() => {
      try {
        session.user();
      } catch {}
      throw new Error("another");
    });
    expect(await runShared(fails, host)).toEqual({ kind: "session" });
    const hangs = callOf(
      () => {
        try {
          session.user();
        } catch {}
        return new Promise(() => undefined);
      },
      { rpc_timeout: 0.01 },
    );
    expect(await runShared(hangs, host)).toEqual({ kind: "session" });
  });

  it("gets no session, not even that of the request in which it is started [QUERY-14]", async () => {
    const seen: unknown[] = [];
    const call = callOf(async () => {
      for (const [, read] of reads) {
        try {
          seen.push(read());
        } catch {}
      }
      await sleep(1);
      try {
        seen.push(session.user());
      } catch {}
      return seen;
    });
    await runWithCookie(signInCookie("alice"), () => runShared(call, host));
    expect(seen).toEqual([]);
  });
});

describe("a run for one sign-in", () => {
  it("reads the session of its receivers, not that of the request in which it is started [QUERY-15]", async () => {
    const call = callOf(() => [session.user()?.sub ?? null, session.require().sub]);
    const outcome = await runWithCookie(signInCookie("bob"), () => runQuery(call, host, sessionOf("alice")));
    expect(outcome).toEqual({ kind: "value", json: '["alice","alice"]' });
  });

  it("is that of a signed-out client with null", async () => {
    const call = callOf(() => session.user());
    const outcome = await runWithCookie(signInCookie("bob"), () => runQuery(call, host, null));
    expect(outcome).toEqual({ kind: "value", json: "null" });
    expect(
      await runQuery(
        callOf(() => session.require()),
        host,
        null,
      ),
    ).toMatchObject({
      kind: "failed",
      cause: { code: "unauthenticated" },
    });
  });

  it("does not mix the sessions of runs at the same time [QUERY-16]", async () => {
    const call = callOf(async () => {
      await sleep(1);
      return session.user()?.sub;
    });
    const names = Array.from({ length: 20 }, (_, at) => `user ${at}`);
    const outcomes = await Promise.all(names.map((name) => runQuery(call, host, sessionOf(name))));
    expect(outcomes).toEqual(names.map((name) => ({ kind: "value", json: JSON.stringify(name) })));
  });
});

const uses: [name: string, use: () => unknown][] = [
  ["request.path", () => request.path],
  ["request.method", () => request.method],
  ["request.query", () => request.query],
  ["request.headers", () => request.headers],
  ["request.cookies", () => request.cookies],
  ["request.address", () => request.address],
  ["request.id", () => request.id],
  ["request.signal", () => request.signal],
  ["request.set_cookie()", () => request.set_cookie("a", "b")],
  ["session.login()", () => session.login("mallory")],
  ["session.logout()", () => session.logout()],
  ["session.revoke()", () => session.revoke("alice")],
  ["channel()", () => channel("a")],
  ["presence()", () => presence("a")],
  ["cards.live()", () => compiledQuery("cards", { on: ["a"] }, () => 1).live()],
  ["publish()", () => publish("a")],
  ["listen()", () => listen("a")],
  ["revalidate()", () => revalidate("/")],
];

describe("a query is outside every request", () => {
  it.each(uses)("so that %s fails in a shared run, and in a run for a sign-in [QUERY-17]", async (name, use) => {
    const call = callOf(use);
    const outcomes = await runWithCookie(signInCookie("bob"), () =>
      Promise.all([runShared(call, host), runQuery(call, host, sessionOf("alice"))]),
    );
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        kind: "failed",
        cause: { message: expect.stringMatching(/^\S+( \S+)? was (used|called) in the query cards[.,]/) },
      });
      if (outcome.kind === "failed") expect(String(outcome.cause)).toContain(`Error: ${name} was`);
    }
  });

  it("says what to do", async () => {
    const messageOf = async (use: () => unknown) => {
      const outcome = await runShared(callOf(use), host);
      return outcome.kind === "failed" ? String(outcome.cause) : outcome.kind;
    };
    expect(await messageOf(() => request.path)).toBe(
      "Error: request.path was used in the query cards, which runs outside every request: its value is for all who see the same. " +
        "Pass what it needs of the request as an argument, or do this in the page or server function. A query may read the session.",
    );
    expect(await messageOf(() => publish("a"))).toBe(
      "Error: publish() was called in the query cards. A query only reads, because it runs again whenever one of its channels has a " +
        "message. Do this in the server function that makes the change.",
    );
  });

  it("and finds nothing that the application has stored for the request in an AsyncLocalStorage [QUERY-18]", async () => {
    const user = new AsyncLocalStorage<string>();
    const outcome = await user.run("alice", () =>
      runShared(
        callOf(async () => [user.getStore() ?? null]),
        host,
      ),
    );
    expect(outcome).toEqual({ kind: "value", json: "[null]" });
  });

  it("but the request that has started it goes on in its own context", async () => {
    const context = requestContext(signInCookie("alice"), host.config);
    await runInContext(context, async () => {
      await runShared(
        callOf(() => 1),
        host,
      );
      expect(session.user()?.sub).toBe("alice");
      expect(request.path).toBe("/");
    });
  });
});

describe("receiverError", () => {
  const call = callOf(() => 1);

  it("is what the query has thrown on purpose, logged as information", () => {
    const error = new RPCError("forbidden", "Not your board.");
    expect(receiverError(error, call, host)).toBe(error);
    expect(receiverError(new ValueError("No such board."), call, host)).toMatchObject({
      code: "validation_error",
      message: "No such board.",
    });
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ["info", "The query cards (src/cards.server.ts:1) threw an expected error"],
      ["info", "The query cards (src/cards.server.ts:1) threw an expected error"],
    ]);
  });

  it.each([new Error("password of the database: hunter2"), new TypeError("x is not a function"), "a text", null])(
    "is internal for anything else, of which only the log has the text: %s",
    (cause) => {
      expect(receiverError(cause, call, host)).toEqual(new RPCError("internal", "Something went wrong on the server."));
      expect(lines).toEqual([
        { level: "error", fields: { err: cause }, message: "The query cards (src/cards.server.ts:1) failed" },
      ]);
    },
  );

  it("is internal for a redirect, which only a page can follow", async () => {
    const outcome = await runShared(
      callOf(() => redirect("/login")),
      host,
    );
    if (outcome.kind !== "failed") throw new Error("It has not failed.");
    expect(receiverError(outcome.cause, call, host).code).toBe("internal");
    expect(lines[0]?.fields).toEqual({ err: new TypeError("cards has redirected, which only a page can do.") });
  });
});
