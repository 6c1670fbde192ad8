import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { collect } from "#test/collect";
import { rejectionFieldsOf, respondWithJson, StubServer } from "#test/stub-server";

let server: StubServer;

beforeAll(async () => {
  server = await StubServer.open();
});

beforeEach(() => {
  server.calls.length = 0;
});

afterAll(() => server.close());

describe("a call", () => {
  test.each([
    [["a"], [1, 2], "f received 2 arguments, but takes at most 1: f(a). Write f(a)."],
    [[], ["event"], "f received a string, but takes no arguments. Write f()."],
    [undefined, [{}, {}], "f received 2 arguments, but takes one object of named arguments: f({ … }). Write f({ … })."],
  ])("with too many arguments rejects and sends nothing in development", async (params, values, message) => {
    const { stub } = await server.load();
    expect(await rejectionFieldsOf(stub("f", params)(...values))).toMatchObject({ code: "validation_error", message });
    expect(server.calls).toEqual([]);
  });

  test("with too many arguments is sent in production without those that have no parameter", async () => {
    vi.stubEnv("NODE_ENV", "production");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { stub } = await server.load();
    server.respond = respondWithJson(200, { result: null });
    await stub("f", ["a"])(1, 2, 3);
    expect(server.calls[0]?.body).toEqual({ args: { a: 1 } });
  });

  test("with a value that would not arrive as it is rejects and sends nothing", async () => {
    const { stub, stream, upload } = await server.load();
    const guest = { tags: new Set(["a"]) };
    const error = new TypeError("sign: guest.tags: a Set cannot be sent. Use an array: [...tags].");
    await expect(stub("sign", ["guest"])(guest)).rejects.toThrow(error);
    await expect(stub("sign", ["guest"]).named({ guest })).rejects.toThrow(error);
    await expect(stub("sign")({ guest })).rejects.toThrow(error);
    await expect(stub("sign", ["guest"], undefined, upload)(guest)).rejects.toThrow(error);
    await expect(collect(stream("sign", ["guest"])(guest))).rejects.toThrow(error);
    const file = new File(["a"], "a.txt");
    await expect(stub("sign", ["a", "b"], undefined, upload)(file, Number.NaN)).rejects.toThrow(
      "sign: b: NaN cannot be sent.",
    );
    await expect(stub("sign", ["a"])(file)).rejects.toThrow("sign: a: a File cannot be sent. A file must be");
    expect(server.calls).toEqual([]);
  });

  test("with a value that would not arrive as it is has the caller in the stack of its error", async () => {
    const { stub } = await server.load();
    const caller = () => stub("sign", ["tags"])(new Set());
    await expect(caller()).rejects.toHaveProperty(
      "stack",
      expect.stringMatching(/at caller .*stub-arguments\.test\.ts/),
    );
  });

  test.each([
    ["a Set", new Set()],
    ["a Map", new Map()],
    ["a FormData", new FormData()],
    ["a File", new File([], "a")],
    ["a Blob", new Blob()],
    ["a promise", Promise.resolve()],
    ["a bigint", 1n],
  ])("with %s in an argument rejects in production, too, and sends nothing", async (_, value) => {
    vi.stubEnv("NODE_ENV", "production");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { stub } = await server.load();
    await expect(stub("sign", ["guest"])({ tags: value })).rejects.toThrow(TypeError);
    if (typeof value === "object") {
      await expect(stub("sign", ["guest"])(value)).rejects.toThrow("sign: cannot send guest");
    }
    expect(server.calls).toEqual([]);
  });

  test("with values that arrive as they are is sent unchanged in production", async () => {
    vi.stubEnv("NODE_ENV", "production");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { stub } = await server.load();
    server.respond = respondWithJson(200, { result: null });
    const a = { at: new Date(0), list: [1, "a Set]", null], url: new URL("http://a.example"), save() {} };
    await stub("f", ["a"])(a);
    const sent = { at: "1970-01-01T00:00:00.000Z", list: [1, "a Set]", null], url: "http://a.example/" };
    expect(server.calls[0]?.body).toEqual({ args: { a: sent } });
  });
});
