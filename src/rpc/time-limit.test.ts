import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { RPCError } from "../errors.ts";
import { request } from "../http/index.ts";
import { session } from "../session/index.ts";
import type { ServerOptions } from "./server.ts";

async function errorOf(response: Response): Promise<{ code: string; message: string }> {
  return (await response.json()).error;
}

describe("rpc_timeout", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Returns a function that never returns, its request.signal, and a function that makes it reject. */
  function hangingFunction(options = {}) {
    const seen: { signal?: AbortSignal; fail?: (error: Error) => void } = {};
    const wait = compiledServer(
      "wait",
      () => {
        seen.signal = request.signal;
        return new Promise<string>((_, reject) => {
          seen.fail = reject;
        });
      },
      { options },
    );
    return { wait, seen };
  }

  it("responds with 504 when it is exceeded and not before, and aborts request.signal", async () => {
    const { wait, seen } = hangingFunction({ rpc_timeout: 2 });
    let hasResponse = false;
    const pending = callOverHttp(createTestApp({ wait }), "wait").finally(() => {
      hasResponse = true;
    });
    await vi.advanceTimersByTimeAsync(1999);
    expect(hasResponse).toBe(false);
    expect(seen.signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    const response = await pending;
    expect(response.status).toBe(504);
    expect(await errorOf(response)).toMatchObject({ code: "timeout" });
    expect(seen.signal?.aborted).toBe(true);
  });

  it("ignores an error that a function throws after its time limit", async () => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const { wait, seen } = hangingFunction({ rpc_timeout: 1 });
    const pending = callOverHttp(createTestApp({ wait }), "wait");
    await vi.advanceTimersByTimeAsync(1000);
    await pending;
    seen.fail?.(new Error("late"));
    vi.useRealTimers();
    // Node reports unhandled rejections after the microtask queue is empty.
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it("is that of the function, or else that of the application", async () => {
    const withOwnLimit = hangingFunction({ rpc_timeout: 5 }).wait;
    const { wait } = hangingFunction();
    const app = createTestApp({ wait }, { rpc_timeout: 1 });
    const first = callOverHttp(app, "wait");
    const second = callOverHttp(createTestApp({ wait: withOwnLimit }, { rpc_timeout: 1 }), "wait");
    let hasResponse = false;
    second.finally(() => {
      hasResponse = true;
    });
    await vi.advanceTimersByTimeAsync(1000);
    expect((await first).status).toBe(504);
    expect(hasResponse).toBe(false);
    await vi.advanceTimersByTimeAsync(4000);
    expect((await second).status).toBe(504);
  });

  it("leaves no timer after a call and does not apply to streams", async () => {
    const quick = compiledServer("quick", () => 1, { options: { rpc_timeout: 60 } });
    const slow = compiledServer(
      "slow",
      async function* () {
        await new Promise((resolve) => setTimeout(resolve, 120_000));
        yield 1;
      },
      { stream: true, options: { rpc_timeout: 1 } },
    );
    const app = createTestApp({ quick, slow }, { rpc_timeout: 1 });
    expect((await callOverHttp(app, "quick")).status).toBe(200);
    expect(vi.getTimerCount()).toBe(0);
    const text = callOverHttp(app, "slow").then((response) => response.text());
    await vi.advanceTimersByTimeAsync(130_000);
    expect((await text).trimStart()).toBe('{"chunk":1}\n{"done":true}\n');
  });

  it("rejects a cookie of a function whose response was sent", async () => {
    let late: unknown;
    const wait = compiledServer(
      "wait",
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 2000));
        try {
          session.login("ada");
        } catch (error) {
          late = error;
        }
      },
      { options: { rpc_timeout: 1 } },
    );
    const pending = callOverHttp(createTestApp({ wait }), "wait");
    await vi.advanceTimersByTimeAsync(2000);
    expect((await pending).headers.getSetCookie()).toEqual([]);
    expect(late).toMatchObject({ message: expect.stringContaining("cannot be set") });
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2_147_484, "1"])(
    "is rejected if invalid: %j",
    (rpc_timeout) => {
      const options = { rpc_timeout: rpc_timeout as number };
      expect(() => hangingFunction(options)).toThrow(RangeError);
      expect(() => createTestApp({ wait: hangingFunction().wait }, options)).toThrow(RangeError);
    },
  );
});

describe("rpc_timeout of a function that blocks the event loop, so that the timer is late", () => {
  /** A clock that the function advances, as if it had computed for that time. */
  let ms = 0;
  beforeEach(() => {
    ms = 1_000;
    vi.spyOn(performance, "now").mockImplementation(() => ms);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const status = async (run: () => unknown, options: ServerOptions = {}) => {
    const block = compiledServer("block", run, { options: { rpc_timeout: 0.3, ...options }, params: { a: "any" } });
    const response = await callOverHttp(createTestApp({ block }), "block", { a: 1 });
    return response.status;
  };

  it.each([
    [299, 200],
    [300, 504],
    [301, 504],
    [800, 504],
  ])(
    "after %i ms of a limit of 0.3 s the status is %i, whether it returns, resolves or throws",
    async (blockedMs, expected) => {
      const error = new RPCError("conflict", "No.");
      expect(await status(() => (ms += blockedMs))).toBe(expected);
      expect(await status(async () => (ms += blockedMs))).toBe(expected);
      const failing = () => {
        ms += blockedMs;
        throw error;
      };
      expect(await status(failing)).toBe(expected === 200 ? 409 : 504);
      expect(await status(async () => failing())).toBe(expected === 200 ? 409 : 504);
    },
  );

  it("includes the time of its schemas", async () => {
    const schema = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: (value: unknown) => {
          ms += 300;
          return { value };
        },
      },
    } as const;
    expect(await status(() => 1, { validate: { a: schema } })).toBe(504);
  });

  it("aborts request.signal", async () => {
    let signal: AbortSignal | undefined;
    await status(() => {
      signal = request.signal;
      ms += 800;
    });
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toMatchObject({ code: "timeout" });
  });

  it("does not apply to a stream", async () => {
    const block = compiledServer(
      "block",
      function* () {
        ms += 800;
        yield 1;
      },
      { stream: true, options: { rpc_timeout: 0.3 } },
    );
    const response = await callOverHttp(createTestApp({ block }, { rpc_timeout: 0.3 }), "block");
    expect(await response.text()).toBe('{"chunk":1}\n{"done":true}\n');
  });
});
