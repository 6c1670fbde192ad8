import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { compiledPage, compiledServer, createTestApp } from "#test/compiled-app";
import { bodyOf, CSRF_ENV, FORM_ENV, JOIN, joinApp, postForm, redirectOf, signedInCookie, VALID } from "#test/join-app";
import { RPCError, ValueError } from "../errors.ts";
import { once, redirect, request } from "../http/index.ts";
import { form, NotFound } from "../pages/index.ts";
import { session } from "../session/index.ts";

const STRING = { type: "any", shape: { kinds: ["string"] } } as const;
const LIST = { type: "any", shape: { list: { of: STRING.shape } } } as const;

beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe("a form that is sent to its page", () => {
  it("runs its function with its fields, and redirects to the page if there is no result", async () => {
    const run = vi.fn();
    const response = await postForm(joinApp(run), "/join?a=1&__form=register&b=2", { fields: VALID });
    expect(run.mock.calls).toEqual([["a@b.c", 7]]);
    expect(redirectOf(response)).toEqual([303, "/join?a=1&b=2"]);
    expect(response.headers.get("cache-control")).toBe("private, no-store");
  });

  it("takes null as no result", async () => {
    expect(
      redirectOf(
        await postForm(
          joinApp(() => null),
          JOIN,
          { fields: VALID },
        ),
      ),
    ).toEqual([303, "/join"]);
  });

  it("may be urlencoded", async () => {
    const run = vi.fn();
    const body = new URLSearchParams({ email: "a b", age: "7", note: "x\r\ny" });
    const headers = { origin: "http://shop.example" };
    const sent = new Request(`http://shop.example${JOIN}`, { method: "POST", body, headers });
    expect((await joinApp(run).fetch(sent)).status).toBe(303);
    expect(run.mock.calls).toEqual([["a b", 7, "x\ny"]]);
  });

  it("takes line ends as JavaScript has them, and leaves out empty optional fields", async () => {
    const run = vi.fn();
    await postForm(joinApp(run), JOIN, { fields: { ...VALID, note: "a\nb\r\nc" } });
    await postForm(joinApp(run), JOIN, { fields: { ...VALID, note: "" } });
    expect(run.mock.calls).toEqual([
      ["a@b.c", 7, "a\nb\nc"],
      ["a@b.c", 7],
    ]);
  });

  it.each([
    ["returned", () => redirect("/welcome?a=1")],
    [
      "thrown",
      () => {
        throw redirect("/welcome?a=1");
      },
    ],
  ])("follows a redirect that its function has %s", async (_, work) => {
    expect(redirectOf(await postForm(joinApp(work), JOIN, { fields: VALID }))).toEqual([303, "/welcome?a=1"]);
  });

  it("is redirected to another site by its page, because the content security policy forbids a redirect of the form", async () => {
    const app = joinApp(() => redirect("https://pay.example/?a='\"<b>", { external: true }));
    const response = await postForm(app, JOIN, { fields: VALID });
    const url = "https://pay.example/?a=%27%22%3Cb%3E";
    expect(redirectOf(response)).toEqual([200, null]);
    expect(response.headers.get("refresh")).toBe(`0; url=${url}`);
    expect(response.headers.get("cache-control")).toBe("private, no-store");
    expect(await bodyOf(response)).toBe(`<main><p><a href="${url}">pay.example</a></p></main>`);
  });

  it("shows its result in the page, and no fields", async () => {
    const response = await postForm(
      joinApp((email) => ({ email, at: new Date(0) })),
      JOIN,
      { fields: VALID },
    );
    expect(response.status).toBe(200);
    const body = await bodyOf(response);
    expect(body).toContain(
      "query {}, result {&quot;email&quot;:&quot;a@b.c&quot;,&quot;at&quot;:&quot;1970-01-01T00:00:00.000Z&quot;}",
    );
    expect(body).toContain('<input name="email"/>');
  });

  it("has what was sent in its handle after a result, but no passwords", async () => {
    const search = compiledServer("search", () => false, { params: { text: STRING, tags: LIST, password: STRING } });
    const home = compiledPage("/", () => {
      const { values, result, error } = form(search);
      return JSON.stringify([values, result, error ?? null]);
    });
    const fields = { text: "a\r\nb", tags: "x", password: "secret" };
    const response = await postForm(createTestApp({ search, home }), "/?__form=search", { fields });
    expect(response.status).toBe(200);
    expect(await bodyOf(response)).toBe(
      JSON.stringify([{ text: "a\nb", tags: ["x"] }, false, null]).replaceAll('"', "&quot;"),
    );
  });

  it("leaves a redirect of the page as it is", async () => {
    const save = compiledServer("save", () => "saved");
    const home = compiledPage("/home", () => redirect("/other"));
    const app = createTestApp({ save, home });
    expect(redirectOf(await postForm(app, "/home?__form=save"))).toEqual([303, "/other"]);
  });

  it.each([
    ["page", () => redirect("https://pay.example/", { external: true }), {}],
    ["layout", () => "x", { layout: async () => redirect("https://pay.example/", { external: true }) }],
  ])("is redirected to another site by its page, if its %s redirects there", async (_, page, options) => {
    const save = compiledServer("save", () => "saved");
    const home = compiledPage("/home", page);
    const app = createTestApp({ save, home }, options);
    const response = await postForm(app, "/home?__form=save");
    expect(redirectOf(response)).toEqual([200, null]);
    expect(response.headers.get("refresh")).toBe("0; url=https://pay.example/");
  });

  it("keeps the cookies and the sign-in of its function, which the page sees", async () => {
    const sign_in = compiledServer("sign_in", () => {
      session.login("ada");
      return "welcome";
    });
    const home = compiledPage("/", () => `user ${session.user()?.sub}`);
    const response = await postForm(createTestApp({ sign_in, home }, { env: FORM_ENV }), "/?__form=sign_in");
    expect(await bodyOf(response)).toBe("user ada");
    expect(response.headers.get("set-cookie")).toContain("session");
  });

  it("forgets the results of once() before its page is rendered", async () => {
    let count = 0;
    const load = once(() => ++count);
    const save = compiledServer("save", () => load());
    const home = compiledPage("/", () => `loaded ${load()}`);
    expect(await bodyOf(await postForm(createTestApp({ save, home }), "/?__form=save"))).toBe("loaded 2");
  });
});

describe("a form that is refused", () => {
  it("shows the page with its status, with what was typed and with all errors", async () => {
    const run = vi.fn();
    const response = await postForm(joinApp(run), JOIN, { fields: { age: "x", email: '"<a>' } });
    expect(run).not.toHaveBeenCalled();
    expect(response.status).toBe(422);
    expect(await bodyOf(response)).toBe(
      "<p>query {}, result undefined</p>" +
        '<form action="/join?__form=register" method="post" enctype="multipart/form-data">' +
        '<div class="form-errors" role="alert" tabindex="-1"><ul><li id="register-age-error">Age: Enter a whole number.</li></ul></div>' +
        '<input name="email" value="&quot;&lt;a>"/>' +
        '<input name="age" value="x" autofocus aria-invalid="true" aria-describedby="register-age-error"/></form>',
    );
  });

  it("shows the messages of all schemas, next to those of fields that do not match", async () => {
    const schema = (check: (value: unknown) => readonly { message: string; path?: PropertyKey[] }[]) => ({
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) => {
          const issues = check(value);
          return issues.length > 0 ? { issues } : { value };
        },
      },
    });
    const seen = vi.fn();
    const save = compiledServer("save", () => 1, {
      params: {
        a: STRING,
        b: "int",
        c: { type: "any", shape: { object: { fields: [["d", { kinds: ["string"] }]] } } },
      },
      options: {
        validate: {
          a: schema(() => [{ message: "Too short." }, { message: "Second." }]),
          b: schema((value) => {
            seen(value);
            return [];
          }),
          c: schema(() => [{ message: "No such street.", path: ["d"] }]),
        },
      },
    });
    const response = await postForm(createTestApp({ save }), "/__web/form/save", {
      fields: { a: "x", b: "y", "c.d": "z" },
    });
    expect(await response.json()).toEqual({
      error: {
        code: "validation_error",
        message: "Please check the marked fields.",
        details: {
          parameter: "a",
          errors: { a: "Too short.", b: "Enter a whole number.", "c.d": "No such street." },
        },
      },
    });
    expect(seen).not.toHaveBeenCalled();
  });

  it.each([
    [new RPCError("conflict", "Taken.", { parameter: "email" }), 409, { email: "Taken." }],
    [
      new RPCError("conflict", "No.", { errors: { email: "Taken.", age: "Too young." } }),
      409,
      { email: "Taken.", age: "Too young." },
    ],
    [new RPCError("not_found", "No such invitation."), 404, undefined],
    [new RPCError("rate_limited", "Later.", { retry_after: 9 }), 429, undefined],
    [new ValueError("Choose another name."), 422, undefined],
  ])("by its function with %s shows its message", async (error, status, errors) => {
    const app = joinApp(() => {
      throw error;
    });
    const response = await postForm(app, JOIN, { fields: VALID });
    expect(response.status).toBe(status);
    expect(response.headers.get("retry-after")).toBe(status === 429 ? "9" : null);
    const body = await bodyOf(response);
    expect(body).toContain('value="a@b.c"');
    for (const message of errors ? Object.values(errors) : [error.message]) expect(body).toContain(message);
    const called = await postForm(app, "/__web/form/register", { fields: VALID });
    expect(called.status).toBe(status);
    expect((await called.json()).error.details.errors).toEqual(errors);
  });

  it("by a failure shows a general message, and discards cookies", async () => {
    const app = joinApp(() => {
      request.set_cookie("a", "1");
      throw new Error("secret reason");
    });
    const response = await postForm(app, JOIN, { fields: VALID });
    expect(response.status).toBe(500);
    expect(response.headers.get("set-cookie")).toBeNull();
    const body = await bodyOf(response);
    expect(body).toContain('value="a@b.c"');
    expect(body).toContain("Something went wrong on the server.");
    expect(body).not.toContain("secret reason");
  });

  it("by its time limit shows the page, whose signal has not aborted", async () => {
    const slow = compiledServer("slow", () => new Promise(() => undefined), { options: { rpc_timeout: 0.02 } });
    const home = compiledPage("/", () => `aborted ${request.signal.aborted}`);
    const response = await postForm(createTestApp({ slow, home }), "/?__form=slow");
    expect([response.status, await bodyOf(response)]).toEqual([504, "aborted false"]);
  });

  it("by a result that cannot be sent is a failure", async () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(
      (
        await postForm(
          joinApp(() => cycle),
          JOIN,
          { fields: VALID },
        )
      ).status,
    ).toBe(500);
  });

  it("is a page with its own status if the page has one", async () => {
    const save = compiledServer("save", () => {
      throw new RPCError("conflict", "Taken.");
    });
    const home = compiledPage("/", () => {
      throw new NotFound();
    });
    expect((await postForm(createTestApp({ save, home }), "/?__form=save")).status).toBe(404);
  });

  it("leaves nothing for the next request", async () => {
    const app = joinApp(() => 1);
    await postForm(app, JOIN, { fields: { email: "typed", age: "x" } });
    const body = await bodyOf(await app.fetch(new Request("http://shop.example/join")));
    expect(body).not.toContain("typed");
    expect(body).not.toContain("alert");
  });

  it("without a sign-in, above the rate or with a stale token shows what was typed", async () => {
    const app = joinApp(() => 1, { server: { auth_required: true }, options: { env: CSRF_ENV } });
    const signedOut = await postForm(app, JOIN, { fields: VALID });
    expect([signedOut.status, await bodyOf(signedOut)]).toEqual([401, expect.stringContaining('value="a@b.c"')]);

    const cookie = signedInCookie();
    const stale = await postForm(app, JOIN, { fields: { __csrf: "x".repeat(64), ...VALID }, headers: { cookie } });
    const body = await bodyOf(stale);
    expect([stale.status, body]).toEqual([403, expect.stringContaining('value="a@b.c"')]);
    const token = /name="__csrf" value="([^"]+)"/.exec(body)?.[1] ?? "";
    const again = await postForm(app, JOIN, { fields: { __csrf: token, ...VALID }, headers: { cookie } });
    expect(again.status).toBe(200);

    const limited = joinApp(() => undefined, { options: { rate: { calls: 1, seconds: 60 } } });
    expect((await postForm(limited, JOIN, { fields: VALID })).status).toBe(303);
    const refused = await postForm(limited, JOIN, { fields: VALID });
    expect(refused.headers.get("retry-after")).toMatch(/^6\d$/);
    expect([refused.status, await bodyOf(refused)]).toEqual([429, expect.stringContaining('value="a@b.c"')]);
  });

  it.each([
    [65_535, true],
    [65_536, true],
    [65_537, false],
  ])("above the rate, with a body of %i bytes, shows what was typed: %s", async (size, isShown) => {
    const limited = joinApp(() => undefined, { options: { rate: { calls: 1, seconds: 60 } } });
    expect((await postForm(limited, JOIN, { fields: VALID })).status).toBe(303);
    const start = `${new URLSearchParams(VALID)}&padding=`;
    const body = start.padEnd(size, "x");
    const headers = { origin: "http://shop.example", "content-type": "application/x-www-form-urlencoded" };
    const refused = await limited.fetch(new Request(`http://shop.example${JOIN}`, { method: "POST", body, headers }));
    expect(refused.status).toBe(429);
    expect((await bodyOf(refused)).includes('value="a@b.c"')).toBe(isShown);
  });

  it.each([
    ["the page", JOIN, 65_537],
    ["the form address", "/__web/form/register", 1],
  ])(
    "above the rate is not read if it is large or its fields are not shown, at the address of %s [REQUEST-50]",
    async (_, path, size) => {
      const run = vi.fn();
      const app = joinApp(run, { options: { rate: { calls: 1, seconds: 60 } } });
      expect((await postForm(app, path, { fields: VALID })).status).toBeLessThan(400);
      for (const type of ["application/x-www-form-urlencoded", "multipart/form-data; boundary=XX"]) {
        const pull = vi.fn();
        const headers = { origin: "http://shop.example", "content-type": type, "content-length": String(size) };
        const body = new ReadableStream({ pull }, { highWaterMark: 0 });
        // Node requires `duplex` for a stream; its types do not declare it.
        const init: RequestInit & { duplex: "half" } = { method: "POST", body, headers, duplex: "half" };
        const refused = await app.fetch(new Request(`http://shop.example${path}`, init));
        expect([refused.status, refused.headers.get("connection")]).toEqual([429, "close"]);
        expect(refused.headers.get("retry-after")).toMatch(/^6\d$/);
        expect(await refused.text()).toContain("Too many calls. ");
        expect(pull).not.toHaveBeenCalled();
      }
      expect(run).toHaveBeenCalledTimes(1);
    },
  );

  it("for a function that does not exist, or with a body over its limit, shows the error page", async () => {
    const error = ({ status, message }: { status: number; message: string }) => `${status}: ${message}`;
    const app = joinApp(() => 1, { options: { error } });
    const unknown = await postForm(app, "/join?__form=nothing", { fields: VALID });
    expect([unknown.status, await bodyOf(unknown)]).toEqual([404, "404: There is no server function with this name."]);
    const large = await postForm(app, JOIN, { fields: { ...VALID, note: "x".repeat(1024 * 1024) } });
    expect([large.status, large.headers.get("connection")]).toEqual([413, "close"]);
    expect(await bodyOf(large)).toMatch(/^413: /);
  });
});
