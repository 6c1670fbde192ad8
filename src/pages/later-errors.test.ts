import { h } from "preact";
import { describe, expect, it } from "vitest";
import { compiledPage, compiledView, getPage } from "#test/compiled-app";
import { gate, later, type PartFunction, partOf, pause, servePage } from "#test/page-parts";
import { redirect, request } from "../http/index.ts";
import type { Markup } from "../protocol/index.ts";
import { session } from "../session/index.ts";
import { Head, Html } from "./document-elements.ts";
import { NotFound } from "./error-page.ts";
import { Later } from "./later.ts";

const secret = new Error("secret");

describe("an error of a part", () => {
  it.each(["navigate", "cors"])(
    "is shown in its place, logged with the request id, and counted, with mode %s [LATER-3]",
    async (mode) => {
      const { app, errors, lines } = servePage(() => [later(() => Promise.reject(secret)), later(() => "good")], {
        env: { WEB_AUTH_SECRET: "5a".repeat(32), WEB_ACCESS_LOG: "1" },
      });
      const response = await getPage(app, "/", { headers: { "sec-fetch-mode": mode } });
      const html = await response.text();
      expect(response.status).toBe(200);
      expect(html).toContain("<h1>Something went wrong</h1>");
      expect(html).toContain("good");
      expect(html).not.toContain("secret");
      expect(errors()).toEqual([
        {
          level: "error",
          fields: { id: response.headers.get("x-request-id"), trace_id: expect.any(String), err: secret },
          message: "<Later> in the page of src/pages.server.tsx:1 failed",
        },
      ]);
      await expect
        .poll(() => lines.find(({ message }) => message === "Request")?.fields)
        .toMatchObject({ failed_parts: 1 });
    },
  );

  it("is shown by the error page of the application, in an element that its place may contain", async () => {
    const fail = () => {
      throw secret;
    };
    const { whole } = servePage(
      () => [
        h("table", null, h("tbody", null, later(fail))),
        h("table", null, h("tbody", null, h("tr", null, later(fail)))),
        h("ul", null, later(fail)),
        h("dl", null, later(fail)),
        h("select", null, later(fail)),
        h("table", null, later(fail)),
      ],
      { error: async ({ status, message }) => h("i", null, `${status} ${message}`) },
    );
    const shown = "<i>500 Something went wrong on the server.</i>";
    expect(await whole()).toContain(
      `<table><tbody><tr><td colspan="1000">${shown}</td></tr></tbody></table><table><tbody><tr><td colspan="1000">${shown}</td></tr></tbody></table><ul><li>${shown}</li></ul>` +
        `<dl><dd>${shown}</dd></dl><select><option disabled>${shown}</option></select><table><tbody><tr><td colspan="1000">${shown}</td></tr></tbody></table>`,
    );
  });

  it("is shown by the default page if that of the application fails", async () => {
    const { whole, errors } = servePage(() => later(() => Promise.reject(secret)), {
      error: () => {
        throw new Error("broken");
      },
    });
    expect(await whole()).toContain("<div><h1>Something went wrong</h1>");
    expect(errors().map(({ message }) => message)).toContain("The error page failed");
  });

  it.each<[string, PartFunction, string]>([
    ["a returned redirect", () => redirect("/x") as never, 'redirects to "/x"'],
    ["a thrown redirect", () => Promise.reject(redirect("/x")), 'redirects to "/x"'],
    ["a redirect with a token", () => redirect("/x?token=secret#b") as never, 'redirects to "/x", but'],
    ["NotFound", () => Promise.reject(new NotFound("No item.")), "throws not_found (No item.)"],
    ["a required sign-in", () => session.require().sub, "throws unauthenticated (Please sign in.)"],
    ["a cookie", () => request.set_cookie("a", "b") as never, "The cookie"],
    ["a sign-in", () => session.login("ada") as never, "The cookie"],
    ["a sign-out", () => session.logout() as never, "The cookie"],
    ["<Head>", () => h(Head, null, h("title", null, "late")), "<Head> is used inside <Later>"],
    ["<Html>", () => h(Html, { lang: "de" }), "<Html> is used inside <Later>"],
    ["no markup", () => undefined as never, "The function of <Later> returned undefined"],
  ])("names the file and line of the page for %s, in both forms [LATER-1]", async (_, part, message) => {
    for (const mode of ["navigate", "cors"]) {
      const { app, errors } = servePage(() => later(part));
      const response = await getPage(app, "/", { headers: { "sec-fetch-mode": mode } });
      expect(await response.text()).toContain("<h1>");
      expect(response.status).toBe(200);
      expect(response.headers.get("set-cookie")).toBeNull();
      expect(errors()).toHaveLength(1);
      const [line] = errors();
      expect(line?.message).toBe("<Later> in the page of src/pages.server.tsx:1 failed");
      expect(String(line?.fields.err)).toContain(message);
    }
  });

  it("has no cause for a redirect, whose own message is about one that was caught", async () => {
    const { whole, errors } = servePage(() => later(() => redirect("/x") as never));
    await whole();
    expect(errors()[0]?.fields.err).not.toHaveProperty("cause");
  });

  it("shows the message of NotFound", async () => {
    const { whole } = servePage(() => later(() => Promise.reject(new NotFound("No such item."))));
    expect(await whole()).toContain("No such item.");
  });
});

describe("the end of parts", () => {
  it.each(["navigate", "cors"])(
    "aborts request.signal and shows 504 after later_timeout, with mode %s [LATER-4]",
    async (mode) => {
      const reasons: unknown[] = [];
      const { app, errors } = servePage(
        () =>
          later(async () => {
            request.signal.addEventListener("abort", () => reasons.push(request));
            await new Promise(() => undefined);
          }),
        { page: { later_timeout: 0.03 }, error: ({ status, message }) => `${status} ${message}` },
      );
      const html = await (await getPage(app, "/", { headers: { "sec-fetch-mode": mode } })).text();
      expect(html).toContain("504 This part of the page took too long.");
      expect(html).toContain("</body></html>");
      expect(reasons).toHaveLength(1);
      expect(String(errors()[0]?.fields.err)).toContain("It exceeded its time limit of 0.03 s.");
    },
  );

  it.each([0, -1, 60.1, "5", Number.NaN])("rejects the time limit %j", (later_timeout) => {
    expect(() => compiledPage("/", () => null, { later_timeout: later_timeout as number })).toThrow(
      `page("/"): later_timeout is ${later_timeout}. It must be a number of seconds above 0 and at most 60.`,
    );
  });

  it("accepts the time limits 0.001 and 60", () => {
    for (const later_timeout of [0.001, 60]) compiledPage("/", () => null, { later_timeout });
  });

  it("aborts request.signal when the client leaves, and logs nothing", async () => {
    const ended = gate();
    const started = gate();
    const { navigate, errors } = servePage(() =>
      later(async () => {
        const { signal } = request;
        started.open();
        await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))).finally(
          ended.open,
        );
        return null;
      }),
    );
    const response = await navigate();
    const reader = response.body?.getReader();
    await reader?.read();
    await started.opened;
    await reader?.cancel();
    await ended.opened;
    await pause();
    expect(errors()).toEqual([]);
  });
});

describe("the place of Later", () => {
  const View = compiledView("Item", ({ inner }: { readonly inner?: boolean }) => (inner ? later(() => null) : null));

  it.each<[string, () => Markup, string]>([
    ["a view", () => h(View, { inner: true }), "<Later> is used inside a view"],
    [
      "Head",
      () =>
        h(
          Head,
          null,
          later(() => null),
        ),
      "<Later> is used inside <Head>",
    ],
    [
      "a fallback",
      () =>
        later(
          () => null,
          later(() => null),
        ),
      "inside the fallback of another <Later>",
    ],
  ])("cannot be %s", async (_, render, message) => {
    const { navigate, errors } = servePage(render);
    expect((await navigate()).status).toBe(500);
    expect(String(errors()[0]?.fields.err)).toContain(message);
  });

  it("cannot have a view in its fallback", async () => {
    const { navigate, errors } = servePage(() => later(() => null, h(View, {})));
    expect((await navigate()).status).toBe(500);
    expect(String(errors()[0]?.fields.err)).toContain("The view Item is used in the fallback of <Later>");
  });

  const inside = (...names: string[]) =>
    names.reduceRight<Markup>(
      (inner, name) => h(name, null, inner),
      later(() => "the part", "wait"),
    );

  it.each([
    [
      "svg g",
      "inside <svg>, where browsers would insert elements of HTML, which are not drawn. Put the whole <svg> into",
    ],
    ["math mrow", "inside <math>, where"],
    ["div svg foreignObject svg", "inside <svg>, where"],
    ["textarea", "inside <textarea>, where browsers cannot insert a part. Put the whole <textarea> into the part."],
    ["style", "inside <style>, where"],
    ["div title", "inside <title>, where"],
    ["noscript p", "inside <noscript>, where"],
    ["template p", "inside <template>, where"],
  ])("cannot be in %s", async (names, message) => {
    for (const mode of ["navigate", "cors"]) {
      const { app, errors } = servePage(() => inside(...names.split(" ")));
      expect((await getPage(app, "/", { headers: { "sec-fetch-mode": mode } })).status).toBe(500);
      expect(String(errors()[0]?.fields.err)).toContain(`<Later> is used ${message}`);
    }
  });

  it.each(["svg foreignObject", "svg title", "math mi", "select", "select optgroup", "option", "table", "p", "button"])(
    "can be in %s",
    async (names) => {
      const { navigate, whole } = servePage(() => inside(...names.split(" ")));
      expect(partOf(await (await navigate()).text())).toBe("the part");
      expect(await whole()).toContain("the part</");
    },
  );

  it("counts the elements around the parts that it is in", async () => {
    const { whole, errors } = servePage(() =>
      h(
        "svg",
        null,
        h(
          "foreignObject",
          null,
          later(() => h("svg", null, h("g", null, inside("g")))),
        ),
      ),
    );
    expect(await whole()).toContain("<foreignObject><div><h1>Something went wrong");
    expect(String(errors()[0]?.fields.err)).toContain("<Later> is used inside <svg>");
    const list = servePage(() =>
      h(
        "ul",
        null,
        later(() => later(() => Promise.reject(secret))),
      ),
    );
    expect(await list.whole()).toContain("<ul><li><div><h1>Something went wrong");
  });

  it("selects an option of a part by the value of the <select> around it", async () => {
    const options = () => ["a", "b"].map((value) => h("option", { value, key: value }, value));
    const { navigate, whole } = servePage(() => [h("select", { defaultValue: "b" }, later(options)), later(options)]);
    expect(await whole()).toContain('<option value="a">a</option><option value="b" selected>b</option></select>');
    const html = await (await navigate()).text();
    expect(html).toContain('<option value="a">a</option><option value="b" selected>b</option></template>');
    expect(html).toContain('<option value="a">a</option><option value="b">b</option></template>');
  });

  const Figures = async () => h("p", null, "figures");
  const form = "<Later fallback={…}>{async () => <Figures data={await load()} />}</Later>.";

  it.each<[string, unknown, string]>([
    ["no child", undefined, `<Later> has no child. Its only child must be a function, which awaits the data and `],
    ["a promise", Figures(), `<Later> has a promise as its child. Its only child must be a function, which awaits the`],
    ["an async component", h(Figures as never, null), `<Later> has the element <Figures> as its child. Its only child`],
    ["the form to write", h(Figures as never, null), `passes it to components, which are synchronous: ${form}`],
    ["an element", h("p", null), "<Later> has the element <p> as its child."],
    [
      "that of an element",
      h("p", null),
      "synchronous: <Later fallback={…}>{async () => <p>{await load()}</p>}</Later>.",
    ],
    ["several children", [() => null, " "], "<Later> has 2 children."],
    ["a text", "text", '<Later> has "text" as its child.'],
  ])("needs a function, and names %s", async (_, child, message) => {
    const { whole, errors } = servePage(() => h(Later, { children: child as never }));
    await whole();
    expect(String(errors()[0]?.fields.err)).toContain(message);
  });

  it("advises to load the data of an async component in the function of <Later>", async () => {
    const { whole, errors } = servePage(() => later(() => h(Figures as never, null)));
    await whole();
    expect(String(errors()[0]?.fields.err)).toContain(
      "Figures returned a promise. Components are synchronous: load the data in the function of <Later>, which may be async, and pass it down.",
    );
  });
});
