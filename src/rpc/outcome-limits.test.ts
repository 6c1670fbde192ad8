/** What the clients of one address may take of the memory of outcomes: docs/protocol.md 15.8. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { compiledServer, createTestApp } from "#test/compiled-app";
import { signInCookie, testConfig } from "#test/request-context";
import { MAX_STORED_BYTES, MemoryOutcomes } from "../backends/memory/index.ts";

const MIB = 1024 * 1024;
const ENV = { WEB_AUTH_SECRET: "5a".repeat(32) };

interface CallOptions {
  readonly address: string;
  /** Signed out without it. */
  readonly user?: string;
  readonly text?: string;
  /** A new one by default. */
  readonly key?: string;
}

/** Returns an application with an idempotent function, and a function that calls it. */
function createOnceApp() {
  const claim = vi.spyOn(MemoryOutcomes.prototype, "claim");
  const run = vi.fn((text: string): string | Promise<string> => text);
  const save = compiledServer("save", run, { params: { text: "any" }, options: { idempotent: true } });
  const app = createTestApp({ save }, { rate: false, env: ENV });
  const cookies = new Map<string, string>();
  let calls = 0;
  const call = async ({ address, user, text = "a", key = `0123456789abcdef-${calls++}` }: CallOptions) => {
    if (user && !cookies.has(user)) cookies.set(user, signInCookie(user, {}, testConfig(ENV)));
    const headers = new Headers({ "content-type": "application/json", "idempotency-key": key });
    if (user) headers.set("cookie", cookies.get(user) ?? "");
    const body = JSON.stringify({ args: { text } });
    const url = "http://shop.example/__web/rpc/save";
    const response = await app.fetch(new Request(url, { method: "POST", headers, body }), { address });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  /** Sends a form as a script does, and returns the status. */
  const sendForm = async (address: string) => {
    const headers = { origin: "http://shop.example", "idempotency-key": `0123456789abcdef-${calls++}` };
    const body = new FormData();
    body.append("text", "a");
    const url = "http://shop.example/__web/form/save";
    return (await app.fetch(new Request(url, { method: "POST", headers, body }), { address })).status;
  };
  /** Fills half of the memory, except for as many bytes. */
  const fillHalf = async (bytesLeft = 0) => {
    const store = claim.mock.contexts[0] as MemoryOutcomes;
    await store.claim("others", "x".repeat((MAX_STORED_BYTES / 2 - bytesLeft - store.bytes - 512) / 2));
    return store;
  };
  return { call, sendForm, fillHalf, run };
}

afterEach(() => void vi.restoreAllMocks());

/** Calls as many users of an address until one is refused, and returns the refusal. */
async function callUntilRefused(
  call: ReturnType<typeof createOnceApp>["call"],
  addressOf: (user: number) => string,
  text: string,
) {
  for (let i = 0; ; i++) {
    const user = i % 30;
    const response = await call({ address: addressOf(user), user: `user ${user}`, text });
    if (response.status !== 200) return response;
  }
}

describe("while half of the memory of outcomes is used", () => {
  it.each([
    ["an address", () => "203.0.113.1"],
    ["a network /64", (user: number) => `2001:db8:0:1::${user.toString(16)}`],
  ])(
    "the users and signed-out clients of %s may add 4 MiB together, and all others go on [ONCE-17]",
    async (_, addressOf) => {
      const { call, sendForm, fillHalf, run } = createOnceApp();
      const first = { address: addressOf(1), user: "user 1", key: "0123456789abcdef" };
      expect((await call(first)).status).toBe(200);
      const store = await fillHalf();
      const refusal = await callUntilRefused(call, addressOf, "x".repeat(200));
      expect([refusal.status, refusal.body.error.code]).toEqual([429, "rate_limited"]);
      expect(Number(refusal.headers.get("retry-after"))).toBeGreaterThan(500);
      const added = store.bytes - MAX_STORED_BYTES / 2;
      expect(added).toBeGreaterThan(4 * MIB - 1024);
      expect(added).toBeLessThan(4 * MIB + 1024);
      const runs = run.mock.calls.length;
      for (const user of ["another user", undefined]) {
        expect((await call({ address: addressOf(2), ...(user && { user }) })).status).toBe(429);
      }
      expect(await sendForm(addressOf(2))).toBe(429);
      expect([store.bytes - MAX_STORED_BYTES / 2, run.mock.calls.length]).toEqual([added, runs]);
      expect(await call(first)).toMatchObject({ status: 200, body: { result: "a" } }); // its outcome is still there
      expect(run).toHaveBeenCalledTimes(runs);
      for (const address of ["198.51.100.1", "2001:db8:0:2::1"]) {
        expect((await call({ address })).status).toBe(200);
        expect((await call({ address, user: "user 1" })).status).toBe(200);
        expect(await sendForm(address)).toBe(200);
      }
    },
  );

  it("an outcome of 256 characters is kept, and one of 257 is not", async () => {
    const { call, fillHalf, run } = createOnceApp();
    await call({ address: "203.0.113.1" });
    await fillHalf();
    const envelope = JSON.stringify({ kind: "success", json: JSON.stringify("") }).length;
    for (const [length, status] of [
      [256, 200],
      [257, 409],
    ] as const) {
      const sent = { address: "203.0.113.1", key: `0123456789abcdef-${length}`, text: "x".repeat(length - envelope) };
      expect((await call(sent)).status).toBe(200);
      expect((await call(sent)).status).toBe(status);
    }
    expect(run).toHaveBeenCalledTimes(3);
  });
});

describe("while less than half of the memory of outcomes is used", () => {
  it("the users of an address have 4 MiB each", async () => {
    const { call, run } = createOnceApp();
    const text = "x".repeat(60_000);
    for (let i = 0; i < 150; i++) {
      const { status } = await call({ address: "203.0.113.1", user: `user ${i % 5}`, text }); // 18 MB
      expect(status).toBe(200);
    }
    expect((await call({ address: "203.0.113.1" })).status).toBe(200);
    expect(run).toHaveBeenCalledTimes(151);
  });

  it("large outcomes of runs that end at the same time fill this half, and no more [ONCE-18]", async () => {
    const { call, fillHalf, run } = createOnceApp();
    await call({ address: "203.0.113.1" });
    const store = await fillHalf(100_000);
    const text = "x".repeat(60_000);
    let endAll: (text: string) => void = () => undefined;
    const result = new Promise<string>((resolve) => {
      endAll = resolve;
    });
    run.mockReturnValue(result);
    const calls = Array.from({ length: 20 }, (_, i) => call({ address: "203.0.113.1", user: `user ${i}` }));
    await expect.poll(() => run).toHaveBeenCalledTimes(21);
    endAll(text);
    for (const { status, body } of await Promise.all(calls)) expect([status, body.result]).toEqual([200, text]);
    const above = store.bytes - MAX_STORED_BYTES / 2;
    expect(above).toBeGreaterThan(0);
    expect(above).toBeLessThan(2 * text.length);
  });
});
