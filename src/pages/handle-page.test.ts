import { type ComponentChildren, h } from "preact";
import { describe, expect, it } from "vitest";
import { compiledPage, compiledView } from "#test/compiled-app";
import { Hello, pageSettings, renderPage, withoutIslandMarkers } from "#test/render-page";
import { requestContext, requestContextOf } from "#test/request-context";
import { RPCError } from "../errors.ts";
import { isPromise, redirect, run, runInContext } from "../http/index.ts";
import type { Markup } from "../protocol/index.ts";
import { session } from "../session/index.ts";
import { Head } from "./document-elements.ts";
import { type ErrorPageProps, NotFound } from "./error-page.ts";
import { handleNotFound, handlePage } from "./handle-page.ts";
import { type PageResult, pageOf } from "./page.ts";
import type { PageSettings } from "./render-document.ts";

describe("a page", () => {
  it.each<[string, () => PageResult | Promise<PageResult>, boolean]>([
    ["returns markup", () => h("p", null), false],
    ["returns a redirect", () => redirect("/a"), false],
    ["returns a promise", async () => h("p", null), true],
  ])("whose function %s is rendered at once unless that is a promise", async (_, fn, isAsync) => {
    const definition = pageOf(compiledPage("/", fn));
    if (!definition) throw new Error("compiledPage() returned a value that is not a page.");
    const context = requestContext();
    const response = runInContext(context, () => run(handlePage(context, definition, {}, pageSettings().settings)));
    expect(isPromise(response)).toBe(isAsync);
    expect([200, 303]).toContain((await response).status);
  });
});

describe("the response of a page", () => {
  it("is a document with the markup of the page, and is not stored by caches", async () => {
    const { status, headers, html, body } = await renderPage(() => h("p", null, "<", 1, null, false, ["a"]), {
      title: "A",
    });
    expect(status).toBe(200);
    expect(headers).toEqual({ "content-type": "text/html; charset=utf-8", "cache-control": "private, no-store" });
    expect(html).toContain("<title>A · Shop</title>");
    expect(html).toContain('<link rel="stylesheet" href="/assets/src-pages.server.tsx.css">');
    expect(html).not.toContain("<script");
    expect(body).toBe("<p>&lt;1a</p>");
  });

  it.each<[string, PageResult, string]>([
    ["text", "a & b", "a &amp; b"],
    ["nothing", null, ""],
    ["a list", [h("p", { key: 1 }), "x"], "<p></p>x"],
  ])("can be %s", async (_, markup, body) => {
    expect((await renderPage(async () => markup)).body).toBe(body);
  });

  it("has the application's language and title unless the page has its own", async () => {
    expect((await renderPage(() => null)).html).toContain('<html lang="en"');
    expect((await renderPage(() => null)).html).toContain("<title>Shop</title>");
    expect((await renderPage(() => null, { lang: "de", title: "Ä" }, { title: "" })).html).toContain(
      "<title>Ä</title>",
    );
    expect((await renderPage(() => null, { lang: "de" })).html).toContain('<html lang="de"');
  });

  it("can be a redirect, to which the application's base is prepended", async () => {
    expect(await renderPage(() => redirect("/a?b=c"))).toMatchObject({
      status: 303,
      headers: { location: "/a?b=c", "cache-control": "private, no-store" },
      html: "",
    });
    const based = await renderPage(() => redirect("/a"), {}, { base: "/shop" });
    expect(based.headers.location).toBe("/shop/a");
    const external = await renderPage(
      () => redirect("https://id.example/x", { external: true }),
      {},
      { base: "/shop" },
    );
    expect(external.headers.location).toBe("https://id.example/x");
  });
});

describe("the layout", () => {
  const layout = ({ children }: { readonly children: Markup }) => h("main", null, children, h(Hello, {}));

  it("surrounds the page and can contain views", async () => {
    const { body, views } = await renderPage(() => [h("p", null), h(Hello, { name: "ada" })], {}, { layout });
    expect(withoutIslandMarkers(body)).toBe("<main><p></p>[0]<b>Hello ada</b>[/0][1]<b>Hello you</b>[/1]</main>");
    expect(views.map(({ props }) => props)).toEqual([{ name: "ada" }, {}]);
  });

  it("is replaced by the page's layout, and removed by false", async () => {
    const pageLayout = ({ children }: { readonly children: Markup }) => h("article", null, children);
    expect((await renderPage(() => "x", { layout: pageLayout }, { layout })).body).toBe("<article>x</article>");
    expect((await renderPage(() => "x", { layout: false }, { layout })).body).toBe("x");
  });
});

describe("Head", () => {
  it("adds its children to the head, in order, from anywhere in the page", async () => {
    const Meta = () => h(Head, null, h("meta", { name: "b" }));
    const { html, body } = await renderPage(() => [
      h(Head, null, h("meta", { name: "a", content: '"' })),
      h("div", null, h(Meta, null)),
    ]);
    expect(body).toBe("<div></div>");
    expect(html).toContain('<meta name="a" content="&quot;"/><meta name="b"/></head>');
  });

  it("replaces the title by its last title element, without the application's title", async () => {
    const title = (text: ComponentChildren) => h(Head, null, [h("title", null, text), h("meta", { name: "m" })]);
    const { html } = await renderPage(() => [title("First"), title(["<Se", 2, "nd>"])], { title: "Page" });
    expect(html.match(/<title>.*?<\/title>/g)).toEqual(["<title>&lt;Se2nd&gt;</title>"]);
  });

  it("is rejected in a view and in another Head, and cannot contain a view", async () => {
    const Wrong = compiledView("Wrong", () => h(Head, null, h("title", null, "x")));
    const inView = await renderPage(() => h(Wrong, {}));
    expect(inView).toMatchObject({ status: 500, logged: [expect.stringContaining("<Head> is used inside a view")] });
    const Nested = () => h(Head, null, h("meta", {}));
    const nested = await renderPage(() => h(Head, null, h(Nested, null)));
    expect(nested.logged).toEqual([expect.stringContaining("<Head> is used inside another <Head>")]);
    const containing = await renderPage(() => [h(Head, null, h(Hello, {})), h(Hello, {})]);
    expect(containing.logged).toEqual([expect.stringContaining("The view Hello is used inside <Head>")]);
  });

  it("renders nothing outside a page", () => {
    expect(Head({ children: "x" })).toBeNull();
  });
});

describe("an error of a page", () => {
  it.each([
    [new NotFound(), 404, "There is nothing here."],
    [new NotFound("No <such> user."), 404, "No &lt;such> user."],
    [new RPCError("not_found", "Gone."), 404, "Gone."],
    [new RPCError("forbidden", "Not you."), 403, "Not you."],
    [new RPCError("unauthenticated", "Sign in."), 401, "Sign in."],
  ])("is shown with its message: %s", async (error, status, message) => {
    const response = await renderPage(async () => {
      throw error;
    });
    expect(response).toMatchObject({ status, logged: [] });
    expect(response.headers["cache-control"]).toBe("private, no-store");
    expect(response.body.replaceAll("&gt;", ">")).toContain(`<p>${message}</p>`);
  });

  it.each([
    new RPCError("conflict", "the password is hunter2"),
    new Error("the password is hunter2"),
    new TypeError("the password is hunter2"),
    "the password is hunter2",
    null,
  ])("is a 500 that shows the request id only, and is logged: %s", async (error) => {
    const response = await renderPage(() => {
      throw error;
    });
    expect(response.status).toBe(500);
    expect(response.html).not.toContain("hunter2");
    expect(response.body).toContain("<code>1</code>");
    expect(response.logged).toEqual([`The page / failed ${error}`]);
  });

  it("is a 401 if session.require() throws it", async () => {
    expect((await renderPage(() => session.require().sub)).status).toBe(401);
  });

  it("is handled in the same way if a component throws it", async () => {
    const Missing = (): null => {
      throw new NotFound();
    };
    expect((await renderPage(() => h(Missing, {}))).status).toBe(404);
  });

  it("is shown to the developer in development, if it is unexpected", async () => {
    const showError = async (error: unknown, id: string) => `<pre>${String(error)} ${id}</pre>`;
    const fail = () => {
      throw new Error("broken");
    };
    expect(await renderPage(fail, {}, { showError })).toMatchObject({
      status: 500,
      html: "<pre>Error: broken 1</pre>",
    });
    const throwNotFound = () => {
      throw new NotFound();
    };
    expect((await renderPage(throwNotFound, {}, { showError })).status).toBe(404);
    const { settings } = pageSettings({ showError });
    const context = requestContext();
    const missing = await runInContext(context, () => handleNotFound(context, settings));
    expect(missing.body).toContain("To add one, list its module in `modules` of new App.");
  });
});

describe("an address without a page", () => {
  const request = async (dest: string) => {
    const { settings } = pageSettings();
    const context = requestContextOf(
      new Request("http://shop.example/logo.png", { headers: { "sec-fetch-dest": dest } }),
    );
    const { status, headers, body } = await runInContext(context, () => handleNotFound(context, settings));
    return [status, headers?.["cache-control"], body];
  };

  it.each(["image", "script", "style", "font", "manifest", "audio", "video", "track"])(
    "is a text that no browser has to forget, for a request of a page's %s",
    async (dest) => {
      expect(await request(dest)).toEqual([404, "private, no-cache", "There is no page at this address.\n"]);
    },
  );

  it.each(["document", "iframe", "frame", "empty", "embed", "object", "images", ""])(
    "is the error page, for the destination %j",
    async (dest) => {
      expect(await request(dest)).toEqual([404, "private, no-store", expect.stringContaining("<h1>Not found</h1>")]);
    },
  );
});

describe("the default error page", () => {
  const throwNotFound = () => {
    throw new NotFound();
  };
  const bodyIn = async (layout: NonNullable<PageSettings["layout"]>) =>
    (await renderPage(throwNotFound, {}, { layout })).body;

  it("has no <main> of its own if the layout has one around it", async () => {
    const Frame = ({ children }: { readonly children?: Markup }) =>
      h("main", null, h("div", { id: "frame" }, children));
    expect(await bodyIn(({ children }) => h(Frame, null, children))).toBe(
      '<main><div id="frame"><div><h1>Not found</h1><p>There is nothing here.</p></div></div></main>',
    );
  });

  it("has a <main> in a layout without one around it", async () => {
    expect(await bodyIn(({ children }) => h("div", null, h("main", null), children))).toBe(
      "<div><main></main><main><h1>Not found</h1><p>There is nothing here.</p></main></div>",
    );
  });
});

describe("the application's error page", () => {
  const error = ({ status, message, id }: ErrorPageProps) => h("h1", null, `${status} ${message} ${id}`);
  const fail = () => {
    throw new Error("broken");
  };

  it("is rendered in the application's layout", async () => {
    const layout = ({ children }: { readonly children: Markup }) => h("main", null, children);
    const response = await renderPage(fail, { layout: false }, { error, layout });
    expect(response.body).toBe("<main><h1>500 Something went wrong on the server. 1</h1></main>");
    expect(response.html).toContain("<title>Something went wrong · Shop</title>");
    const { settings } = pageSettings({ error, layout });
    const context = requestContext();
    const missing = await runInContext(context, () => handleNotFound(context, settings));
    expect(missing.status).toBe(404);
    expect(missing.body).toContain("<main><h1>404 There is no page at this address. 1</h1></main>");
  });

  it.each<[string, Partial<PageSettings>]>([
    ["the layout throws", { layout: fail }],
    ["it throws itself", { error: fail }],
    ["its promise rejects", { error: async () => fail() }],
  ])("is replaced by the default error page if %s", async (_, overrides) => {
    const throwNotFound = () => {
      throw new NotFound();
    };
    const response = await renderPage(throwNotFound, { layout: false }, overrides);
    expect(response.status).toBe(404);
    expect(response.body).toBe("<main><h1>Not found</h1><p>There is nothing here.</p></main>");
    expect(response.logged).toEqual([expect.stringContaining("The error page failed")]);
  });
});
