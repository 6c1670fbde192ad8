import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { expectCallError, readCallResponse } from "#test/call-response";
import { callOverHttp, compiledServer, createTestApp } from "#test/compiled-app";
import { setDevelopment } from "#test/development";
import { RPCError, ValueError } from "../errors.ts";
import { Redirect, RequestError, request, UnavailableError } from "../http/index.ts";
import { session } from "../session/index.ts";
import { keepsCookies } from "./caller-error.ts";

let log: MockInstance<typeof console.error>;
beforeEach(() => {
  log = vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => log.mockRestore());

function logText(): string {
  return log.mock.calls.map(([line]) => String(line?.stack ?? line)).join("\n");
}

describe("an error of a function", () => {
  const throwing = (error: unknown) =>
    createTestApp({
      fail: compiledServer("fail", () => {
        throw error;
      }),
    });

  it.each([
    ["validation_error", 422],
    ["unauthenticated", 401],
    ["forbidden", 403],
    ["not_found", 404],
    ["conflict", 409],
    ["rate_limited", 429],
    ["timeout", 504],
    ["internal", 500],
  ] as const)(
    "is sent unchanged and logged without a stack, if it is an RPCError: %s with status %i",
    async (code, status) => {
      const error = new RPCError(code, "So it is.", { why: [1, { a: new Date(0) }] });
      const response = await expectCallError(callOverHttp(throwing(error), "fail"), status, code);
      expect(response.json.error).toEqual({
        code,
        message: "So it is.",
        details: { why: [1, { a: "1970-01-01T00:00:00.000Z" }] },
      });
      expect(logText()).toMatch(
        new RegExp(`^The call of fail threw an expected error  id=\\S+  code=${code}  reason=So it is\\.$`),
      );
    },
  );

  it("is sent as validation_error with its message, and logged without a stack, if it is a ValueError", async () => {
    const error = new ValueError("No such size.");
    const { json } = await expectCallError(callOverHttp(throwing(error), "fail"), 422, "validation_error");
    expect(json.error).toEqual({ code: "validation_error", message: error.message, details: {} });
    expect(logText()).toMatch(
      /^The call of fail threw an expected error {2}id=\S+ {2}code=validation_error {2}reason=No such size\.$/,
    );
  });

  it("is sent as validation_error with its message, and logged with its stack, if it is a TypeError", async () => {
    const error = new TypeError("x is not a function");
    const { json } = await expectCallError(callOverHttp(throwing(error), "fail"), 422, "validation_error");
    expect(json.error).toEqual({ code: "validation_error", message: error.message, details: {} });
    expect(logText()).toContain(error.stack);
  });

  it.each([
    new Error("the password is hunter2"),
    new TypeError("the password is hunter2", { cause: new Error("fetch failed: the database is away") }),
    new RangeError("the password is hunter2"),
    Object.assign(new Error("the password is hunter2"), { code: "forbidden", status: 403 }),
    "the password is hunter2",
    { message: "the password is hunter2", code: "conflict" },
    null,
    undefined,
    0,
  ])("is sent as internal with the request id, and its message only logged: %s", async (error) => {
    const response = await callOverHttp(throwing(error), "fail", {}, { headers: { "x-request-id": "id-of-this-one" } });
    const { json } = await expectCallError(response, 500, "internal");
    expect(JSON.stringify(json)).not.toContain("hunter2");
    expect(json.error.message).toContain("id-of-this-one");
    expect(logText()).toContain("id=id-of-this-one");
    if (error instanceof Error) expect(logText()).toContain(error.stack);
  });

  it("is handled in the same way if a promise rejects with it", async () => {
    const later = createTestApp({
      fail: compiledServer("fail", async () => Promise.reject(new RPCError("conflict", "No."))),
    });
    await expectCallError(callOverHttp(later, "fail"), 409, "conflict");
  });

  it.each([
    ["a cycle", Object.assign({}, { self: {} as object })],
    ["a promise", { later: Promise.resolve(1) }],
    ["no object", "text"],
    ["null", null],
    ["a list", [1]],
  ])("is sent with empty details if they cannot be serialised (%s), which is logged", async (_, details) => {
    const sent = details as { self?: object }; // JavaScript code can pass any value
    if (sent?.self) sent.self = sent;
    const error = new RPCError("conflict", "Taken.", sent as Record<string, unknown>);
    const { json } = await expectCallError(callOverHttp(throwing(error), "fail"), 409, "conflict");
    expect(json.error).toEqual({ code: "conflict", message: "Taken.", details: {} });
    expect(logText()).toContain("details");
  });

  it.each([
    ["rate_limited", { retry_after: 3 }, "3"],
    ["rate_limited", { retry_after: 0 }, "0"],
    ["rate_limited", { retry_after: 1.5 }, null],
    ["rate_limited", { retry_after: "3\r\nset-cookie: a=b" }, null],
    ["rate_limited", { retry_after: -1 }, null],
    ["rate_limited", {}, null],
    ["rate_limited", null, null],
    ["conflict", { retry_after: 3 }, null],
  ] as const)("%s with the details %j has the header Retry-After: %s", async (code, details, expected) => {
    const error = new RPCError(code, "No.", details as Record<string, unknown>); // JavaScript code can pass any value
    const { headers } = await expectCallError(
      callOverHttp(throwing(error), "fail"),
      code === "conflict" ? 409 : 429,
      code,
    );
    expect(headers.get("retry-after")).toBe(expected);
  });

  it("describes a result that cannot be serialised to the caller in development only", async () => {
    const file = () => new File(["a"], "a.txt");
    const functions = {
      fail: compiledServer("fail", () => ({ photo: file() })),
      values: compiledServer(
        "values",
        function* () {
          yield { photo: file() };
        },
        { stream: true },
      ),
    };
    const developed = createTestApp(functions);
    setDevelopment(developed, { printError: (error) => console.error(error) });
    const message = (name: string) =>
      `${name} (src/${name}.server.ts:1): photo cannot be sent: it is a File. ` +
      "Return it from a route(), as a Response or with send_file().";
    for (const name of ["fail", "values"]) {
      expect(await (await callOverHttp(developed, name)).text()).toContain(JSON.stringify(message(name)).slice(0, -1));
      const redacted = await (await callOverHttp(createTestApp(functions), name)).text();
      expect(redacted).toContain("Something went wrong on the server.");
      expect(redacted).not.toContain("photo");
      expect(logText()).toContain(message(name));
    }
  });

  it("states in development only how to send the text of an Error to the user", async () => {
    const advice = "To show the user a text, throw a ValueError or an RPCError";
    const functions = {
      plain: compiledServer("plain", () => {
        throw new Error("Name is taken");
      }),
      other: compiledServer("other", () => {
        throw new RangeError("Name is taken");
      }),
      values: compiledServer(
        "values",
        function* () {
          yield 1;
          throw new Error("Name is taken");
        },
        { stream: true },
      ),
    };
    const developed = createTestApp(functions);
    setDevelopment(developed, { printError: (error) => console.error(error) });
    for (const name of ["plain", "values", "other"]) {
      const text = await (await callOverHttp(developed, name)).text();
      expect(text.includes(advice), name).toBe(name !== "other");
      expect(text).toMatch(/Something went wrong on the server\. See request [0-9a-f]{32}/);
      expect(text).not.toContain("taken");
      expect(await (await callOverHttp(createTestApp(functions), name)).text()).not.toContain(advice);
    }
  });

  it("is internal if the result cannot be serialised", async () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    const odd = createTestApp({ fail: compiledServer("fail", () => cycle) });
    await expectCallError(callOverHttp(odd, "fail"), 500, "internal");
    expect(logText()).toContain("self cannot be sent: it contains itself.");
  });

  it("does not let a sign-in before it leak into another call", async () => {
    const mixed = createTestApp({
      fail: compiledServer("fail", () => {
        session.login("ada");
        throw new RPCError("conflict", "No.");
      }),
      whoami: compiledServer("whoami", () => session.user()),
    });
    await callOverHttp(mixed, "fail");
    expect(await readCallResponse(callOverHttp(mixed, "whoami"))).toMatchObject({ json: { result: null } });
  });
});

describe("a cookie that is set after the response was sent", () => {
  it("throws an error instead of being lost", async () => {
    let late: Promise<unknown> = Promise.resolve();
    let openGate = () => {};
    const gate = new Promise<void>((open) => {
      openGate = open;
    });
    const app = createTestApp({
      later: compiledServer("later", () => {
        late = gate.then(() => request.set_cookie("a", "b"));
      }),
    });
    await callOverHttp(app, "later");
    openGate();
    await expect(late).rejects.toThrow("the headers of the response have already been sent");
  });
});

describe("keepsCookies", () => {
  const refusal = new RequestError("timeout", "Too late.");
  const unavailable = new UnavailableError("The bus is unreachable.");

  it.each<[string, unknown, boolean, boolean, boolean]>([
    // by: a function, a page, tsweb
    ["a redirect", new Redirect("/", true), true, true, true],
    ["an RPCError", new RPCError("conflict", "Taken."), true, true, true],
    ["a ValueError", new ValueError("Too short."), true, false, false],
    ["a TypeError", new TypeError("undefined is not a function"), false, false, false],
    ["anything else", "failed", false, false, false],
    ["an unreachable bus", unavailable, false, false, false],
  ])(
    "returns whether the cookies are kept that a request has set before %s",
    (_, error, ofFunction, ofPage, ofTsweb) => {
      const kept = (["function", "page", "tsweb"] as const).map((thrownBy) => keepsCookies(error, thrownBy));
      expect(kept).toEqual([ofFunction, ofPage, ofTsweb]);
    },
  );

  it("returns false for a time limit and other refusals of tsweb", () => {
    expect([keepsCookies(refusal, "function"), keepsCookies(refusal, "tsweb")]).toEqual([false, false]);
  });
});
