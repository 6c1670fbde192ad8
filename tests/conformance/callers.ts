/**
 * The contract of server functions for their callers. The suite runs over direct calls on the server, over `visitor()` in
 * the same process, and over HTTP.
 *
 * @see docs/protocol.md 3.7, 5.5 and 6.5
 */
import { beforeEach, describe, expect, it, vi } from "vitest";
import { collect } from "#test/collect";
import { compiledServer } from "#test/compiled-app";
import { RPCError } from "../../src/errors.ts";
import { request } from "../../src/http/index.ts";

/** The events on the server, in order. */
let events: string[] = [];

/** Ends the running call of `wait`. */
let finishWaiting: (outcome: Promise<string> | string) => void;

/** The functions that callers call. */
export const functions = {
  add: compiledServer("add", (a: number, b: number = 10) => a + b, {
    params: { a: "int", b: { type: "int", optional: true } },
  }),
  order: compiledServer(
    "order",
    ({ item, quantity = 1 }: { item: string; quantity?: number }) => ({ item, quantity, at: new Date(0) }),
    { keyed: true, params: { item: "any", quantity: { type: "int", optional: true } } },
  ),
  nothing: compiledServer("nothing", () => {
    events.push("ran");
  }),
  fail: compiledServer("fail", () => {
    throw new RPCError("conflict", "Taken.", { parameter: "name" });
  }),
  wait: compiledServer(
    "wait",
    (hasRequest: boolean) => {
      if (hasRequest) request.signal.addEventListener("abort", () => events.push("aborted"));
      return new Promise<string>((resolve) => {
        finishWaiting = resolve;
        events.push("waiting");
      });
    },
    { params: { hasRequest: "boolean" } },
  ),
  count: compiledServer(
    "count",
    async function* (to: number) {
      events.push("started");
      try {
        for (let n = 1; n <= to; n++) yield { n };
        if (to === 2) throw new RPCError("not_found", "No third.", { n: 3 });
        events.push("done");
      } finally {
        events.push("finally");
      }
    },
    { params: { to: "int" }, stream: true },
  ),
};

/** The functions with the types that callers use. */
export type Callers = typeof functions;

/**
 * Declares the tests of the contract for one way to call functions.
 *
 * @param options `hasRequest`: whether each call is a request of its own
 */
export function describeCallers(
  name: string,
  callers: () => Callers,
  { hasRequest }: { readonly hasRequest: boolean },
): void {
  describe(`a server function, called ${name}`, () => {
    beforeEach(() => {
      events = [];
    });

    it("returns its result, called by position and by name, with defaults", async () => {
      const { add } = callers();
      expect(await Promise.all([add(1, 2), add(1), add.named({ b: 3, a: 2 }), add.named({ a: 2 })])).toEqual([
        3, 11, 5, 12,
      ]);
    });

    it("accepts one object if its keys are the parameters", async () => {
      const { order } = callers();
      const at = "1970-01-01T00:00:00.000Z"; // serialised, for direct calls on the server too
      expect(await order({ item: "tea" })).toEqual({ item: "tea", quantity: 1, at });
      expect(await order.named({ quantity: 2, item: "tea" })).toEqual({ item: "tea", quantity: 2, at });
    });

    it("returns null if the function returns undefined", async () => {
      expect(await callers().nothing()).toBeNull();
    });

    it("runs even if the call is not awaited", async () => {
      void callers().nothing();
      await expect.poll(() => events).toEqual(["ran"]);
    });

    it("rejects with the code, message and details of the function's error", async () => {
      const error = await callers()
        .fail()
        .catch((error: unknown) => error);
      expect(error).toBeInstanceOf(RPCError);
      expect(error).toMatchObject({ code: "conflict", message: "Taken.", details: { parameter: "name" } });
    });

    it("rejects an unknown parameter name", async () => {
      await expect(Promise.resolve(callers().add.named({ a: 1, c: 2 }))).rejects.toThrow("c");
    });

    it("rejects with an AbortError when it is cancelled, and aborts the request that it has sent", async () => {
      const { wait } = callers();
      for (const open of [() => wait(hasRequest), () => wait.named({ hasRequest })]) {
        events = [];
        const call = open();
        await expect.poll(() => events).toEqual(["waiting"]);
        call.cancel();
        await expect(call).rejects.toMatchObject({ name: "AbortError", code: DOMException.ABORT_ERR });
        await expect.poll(() => events).toEqual(hasRequest ? ["waiting", "aborted"] : ["waiting"]);
        finishWaiting("late");
        await expect(call).rejects.toBeInstanceOf(DOMException);
      }
    });

    it("returns its result, and rejects with its error, if it is cancelled after its end", async () => {
      const { add, fail } = callers();
      const [sum, failed] = [add(1, 2), fail()];
      await Promise.allSettled([sum, failed]);
      for (const call of [sum, failed]) call.cancel();
      expect(await sum).toBe(3);
      await expect(failed).rejects.toMatchObject({ code: "conflict" });
    });

    it("reports no unhandled rejection if nothing awaits a cancelled call, also if its function fails later", async () => {
      const unhandled = vi.fn();
      process.on("unhandledRejection", unhandled);
      try {
        const { wait, add } = callers();
        wait(hasRequest).cancel();
        events = [];
        const { cancel } = wait(hasRequest);
        await expect.poll(() => events).toEqual(["waiting"]);
        cancel();
        finishWaiting(Promise.reject(new RPCError("conflict", "Too late.")));
        await add(1); // the rejections above are reported before this
        await new Promise((resolve) => setImmediate(resolve));
        expect(unhandled).not.toHaveBeenCalled();
      } finally {
        process.off("unhandledRejection", unhandled);
      }
    });

    it("yields the values of a stream, which starts at the first read", async () => {
      const { count, nothing } = callers();
      const [byPosition, byName] = [count(3), count.named({ to: 1 })];
      await nothing();
      expect(events).toEqual(["ran"]);
      expect(await collect(byPosition)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
      expect(await collect(byName)).toEqual([{ n: 1 }]);
      expect(events).toEqual(["ran", "started", "done", "finally", "started", "done", "finally"]);
    });

    it("throws the error of a stream after the values before it", async () => {
      const values: unknown[] = [];
      const read = async () => {
        for await (const value of callers().count(2)) values.push(value);
      };
      await expect(read()).rejects.toMatchObject({ code: "not_found", message: "No third.", details: { n: 3 } });
      expect(values).toEqual([{ n: 1 }, { n: 2 }]);
    });

    it("ends a stream when the loop is left: nothing after its yield runs, except finally", async () => {
      for await (const { n } of callers().count(1_000_000)) if (n === 3) break;
      await expect.poll(() => events).toEqual(["started", "finally"]);
    });

    it("ends a stream without an error when it is cancelled", async () => {
      const stream = callers().count(1_000_000);
      const values: unknown[] = [];
      for await (const value of stream) {
        values.push(value);
        stream.cancel();
      }
      expect(values).toEqual([{ n: 1 }]);
      await expect.poll(() => events).toEqual(["started", "finally"]);
    });

    it("does not start a stream that was cancelled before its first read", async () => {
      const stream = callers().count(3);
      stream.cancel();
      expect(await collect(stream)).toEqual([]);
      expect(events).toEqual([]);
    });

    it("allows a stream to be read once", async () => {
      const stream = callers().count(1);
      await collect(stream);
      await expect(collect(stream)).rejects.toThrow("A stream can be read once");
    });
  });
}
