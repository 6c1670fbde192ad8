import { type ComponentChildren, createContext, h } from "preact";
import { useContext, useId } from "preact/hooks";
import { describe, expect, it } from "vitest";
import { compiledPage, compiledView } from "../../tests/support/compiled.ts";
import { contextWith } from "../../tests/support/visit.ts";
import { RPCError } from "../errors.ts";
import { runInContext } from "../http/index.ts";
import { session } from "../session/index.ts";
import { answerNotFound, answerPage, DefaultError, type ErrorPageProps, type PageSettings } from "./answer.ts";
import type { Assets } from "./assets.ts";
import { Head } from "./head.ts";
import { type Markup, type PageOptions, type PageResult, pageOf } from "./page.ts";
import { NotFound, redirect } from "./redirect.ts";
import { view } from "./view.ts";

const assets: Assets = {
  scripts: [],
  islands: { src: "/assets/islands.js", preload: [] },
  view: ({ name }) => ({ src: `/assets/${name}.js`, preload: [] }),
  styles: (page) => (page ? [`/assets/${page.file.replaceAll("/", "-")}.css`] : []),
};

/** What an application would log, and what its settings are unless said. */
function settingsWith(more: Partial<PageSettings> = {}) {
  const logged: string[] = [];
  const write = (fields: object, message: string) => void logged.push(`${message} ${(fields as { err?: Error }).err}`);
  const settings: PageSettings = {
    title: "Shop",
    lang: "en",
    base: "",
    layout: null,
    error: DefaultError,
    development: false,
    log: { info: write, warn: write, error: write },
    assets,
    ...more,
  };
  return { settings, logged };
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly html: string;
  readonly body: string;
  readonly logged: readonly string[];
  /** The views that the page's data names. */
  readonly views: readonly { src: string; name: string; props: Record<string, unknown> }[];
}

/** Answers a page of this function. */
async function answered(
  run: () => PageResult | Promise<PageResult>,
  options: PageOptions = {},
  more: Partial<PageSettings> = {},
): Promise<Answer> {
  const definition = pageOf(compiledPage("/", run, options));
  if (!definition) throw new Error("It is a page");
  const context = contextWith();
  const { settings, logged } = settingsWith(more);
  const {
    status,
    headers = {},
    body,
  } = await runInContext(context, () => answerPage(context, definition, {}, settings));
  const html = String(body ?? "");
  const [, data] = /<script type="application\/json" id="tsweb">(.*?)<\/script>/.exec(html) ?? [];
  return {
    status,
    headers,
    html,
    body: /<body>(.*)<\/body>/s.exec(html)?.[1] ?? "",
    logged,
    views: data === undefined ? [] : JSON.parse(data).views,
  };
}

/** The body with the random marks of the islands taken out. */
function unmarked(body: string): string {
  return body.replace(/<!--(\/?)[\w-]+:(\d+)-->/g, "[$1$2]");
}

const Hello = compiledView("Hello", ({ name = "you" }: { name?: string }) => h("b", null, "Hello ", name));

describe("what a page answers", () => {
  it("is its markup in a document, for this visitor only", async () => {
    const { status, headers, html, body } = await answered(() => h("p", null, "<", 1, null, false, ["a"]), {
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
  ])("may be %s", async (_, markup, body) => {
    expect((await answered(async () => markup)).body).toBe(body);
  });

  it("is in the application's language and title unless the page says its own", async () => {
    expect((await answered(() => null)).html).toContain('<html lang="en"');
    expect((await answered(() => null)).html).toContain("<title>Shop</title>");
    expect((await answered(() => null, { lang: "de", title: "Ä" }, { title: "" })).html).toContain("<title>Ä</title>");
    expect((await answered(() => null, { lang: "de" })).html).toContain('<html lang="de"');
  });

  it("may be a redirect, below the application's base", async () => {
    expect(await answered(() => redirect("/a?b=c"))).toMatchObject({
      status: 303,
      headers: { location: "/a?b=c", "cache-control": "private, no-store" },
      html: "",
    });
    const based = await answered(() => redirect("/a"), {}, { base: "/shop" });
    expect(based.headers.location).toBe("/shop/a");
    const external = await answered(() => redirect("https://id.example/x", { external: true }), {}, { base: "/shop" });
    expect(external.headers.location).toBe("https://id.example/x");
  });
});

describe("the layout", () => {
  const layout = ({ children }: { readonly children: Markup }) => h("main", null, children, h(Hello, {}));

  it("stands around the page, and may hold views", async () => {
    const { body, views } = await answered(() => [h("p", null), h(Hello, { name: "ada" })], {}, { layout });
    expect(unmarked(body)).toBe("<main><p></p>[0]<b>Hello ada</b>[/0][1]<b>Hello you</b>[/1]</main>");
    expect(views.map(({ props }) => props)).toEqual([{ name: "ada" }, {}]);
  });

  it("is the page's own where it has one, or none with false", async () => {
    const own = ({ children }: { readonly children: Markup }) => h("article", null, children);
    expect((await answered(() => "x", { layout: own }, { layout })).body).toBe("<article>x</article>");
    expect((await answered(() => "x", { layout: false }, { layout })).body).toBe("x");
  });
});

describe("Head", () => {
  it("puts its children into the head, in order, from anywhere in the page", async () => {
    const Meta = () => h(Head, null, h("meta", { name: "b" }));
    const { html, body } = await answered(() => [
      h(Head, null, h("meta", { name: "a", content: '"' })),
      h("div", null, h(Meta, null)),
    ]);
    expect(body).toBe("<div></div>");
    expect(html).toContain('<meta name="a" content="&quot;"/><meta name="b"/></head>');
  });

  it("has the title, as it is written; of several the last", async () => {
    const title = (text: ComponentChildren) => h(Head, null, [h("title", null, text), h("meta", { name: "m" })]);
    const { html } = await answered(() => [title("First"), title(["<Se", 2, "nd>"])], { title: "Page" });
    expect(html.match(/<title>.*?<\/title>/g)).toEqual(["<title>&lt;Se2nd&gt;</title>"]);
  });

  it("is refused in a view, in another Head, and cannot hold a view", async () => {
    const Wrong = compiledView("Wrong", () => h(Head, null, h("title", null, "x")));
    const inView = await answered(() => h(Wrong, {}));
    expect(inView).toMatchObject({ status: 500, logged: [expect.stringContaining("<Head> stands in a view")] });
    const Nested = () => h(Head, null, h("meta", {}));
    const nested = await answered(() => h(Head, null, h(Nested, null)));
    expect(nested.logged).toEqual([expect.stringContaining("<Head> stands in another <Head>")]);
    const holding = await answered(() => [h(Head, null, h(Hello, {})), h(Hello, {})]);
    expect(holding.logged).toEqual([expect.stringContaining("The view Hello stands in <Head>")]);
  });

  it("does nothing outside a page", () => {
    expect(Head({ children: "x" })).toBeNull();
  });
});

describe("views", () => {
  it("are islands where they are outermost, as often as they stand there", async () => {
    const { body, views, html } = await answered(() => [
      h(Hello, { name: "a" }),
      h("i", null, h(Hello, { name: "b" })),
    ]);
    expect(unmarked(body)).toBe("[0]<b>Hello a</b>[/0]<i>[1]<b>Hello b</b>[/1]</i>");
    expect(views).toEqual([
      { src: "/assets/Hello.js", name: "Hello", props: { name: "a" } },
      { src: "/assets/Hello.js", name: "Hello", props: { name: "b" } },
    ]);
    expect(html).toContain('<script type="module" src="/assets/islands.js">');
  });

  it("are a part of the outer one inside of another", async () => {
    const Through = ({ children }: { children?: ComponentChildren }) => h("p", null, children);
    const Outer = compiledView("Outer", () => h(Through, null, h(Hello, { name: "in" }), "x"));
    const { body, views } = await answered(() => [h(Outer, {}), h(Hello, {})]);
    expect(unmarked(body)).toBe("[0]<p><b>Hello in</b>x</p>[/0][1]<b>Hello you</b>[/1]");
    expect(views.map(({ name }) => name)).toEqual(["Outer", "Hello"]);
  });

  it("are marked anew for each answer, in a way no page can know before", async () => {
    const markOf = async () => /<!--([\w-]+):0-->/.exec((await answered(() => h(Hello, {}))).body)?.[1];
    const marks = new Set(await Promise.all(Array.from({ length: 200 }, markOf)));
    expect(marks.size).toBe(200);
    for (const mark of marks) expect(mark).toMatch(/^\w{8}$/);
  });

  it("are rendered with what the browser will have", async () => {
    const Typed = compiledView("Typed", (props: Record<string, unknown>) =>
      h(
        "b",
        null,
        Object.entries(props).map(([name, value]) => `${name}:${typeof value}:${JSON.stringify(value)} `),
      ),
    );
    const given = { at: new Date(0), none: undefined, big: 1n, map: new Map([["a", 1]]), ok: true };
    const { body, views } = await answered(() => h(Typed, given));
    expect(views[0]?.props).toEqual({ at: "1970-01-01T00:00:00.000Z", big: "1", map: { a: 1 }, ok: true });
    expect(body).toContain("at:string:");
    expect(body).not.toContain("none");
  });

  it.each<[string, object, string]>([
    ["children", { children: "x" }, "The view Hello was given children"],
    ["a function", { onPick: () => 1 }, "onPick cannot be sent: a function does not travel"],
    ["a function inside", { on: { pick: [() => 1] } }, "on.pick[0] cannot be sent"],
    ["markup", { icon: h("i", null) }, "The view Hello was given markup (icon)"],
    ["markup inside", { icons: [h("i", null)] }, "icons[0] cannot be sent: markup"],
    ["a promise", { user: Promise.resolve(1) }, "user cannot be sent: it is a promise"],
    ["a symbol", { mark: Symbol("s") }, "mark cannot be sent"],
  ])("given %s are refused by the prop's name", async (_, props, message) => {
    const { status, logged } = await answered(() => h(Hello, props));
    expect(status).toBe(500);
    expect(logged).toEqual([expect.stringContaining(message)]);
    expect(logged[0]).toContain("The view Hello");
  });

  it("may have children inside of another view", async () => {
    const Box = compiledView("Box", ({ children }: { children?: ComponentChildren }) => h("p", null, children));
    const Outer = compiledView("Outer", () => h(Box, null, h("b", { onClick: () => 1 })));
    expect(unmarked((await answered(() => h(Outer, {}))).body)).toBe("[0]<p><b></b></p>[/0]");
  });

  it("that were not compiled are refused on a page, and rendered outside of one", async () => {
    const Raw = view(function Raw() {
      return h("b", null);
    });
    const { logged } = await answered(() => h(Raw, {}));
    expect(logged).toEqual([expect.stringContaining("The view Raw is in a module that tsweb has not compiled")]);
  });

  it("have ids of their own for useId", async () => {
    const Labelled = compiledView("Labelled", () => h("b", { id: useId() }, h(Inner, {})));
    const Inner = () => h("i", { id: useId() });
    const { body } = await answered(() => [h(Labelled, {}), h(Inner, {}), h(Labelled, {}), h(Inner, {})]);
    const ids = [...body.matchAll(/id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toHaveLength(6);
    expect(new Set(ids).size).toBe(6);
  });

  it("know the page's context inside, but for what travels", async () => {
    const Theme = createContext("light");
    const Themed = () => h("i", null, useContext(Theme));
    const { body } = await answered(() => h(Theme.Provider, { value: "dark", children: h(Themed, null) }));
    expect(body).toBe("<i>dark</i>");
  });
});

describe("a form that a view handles", () => {
  const submit = () => undefined;
  const html = async (props: object, placed: "view" | "page" = "view") => {
    const form = () => h("form", props, "…");
    const answer = await answered(() => h(placed === "view" ? compiledView("Form", form) : form, {}));
    return unmarked(answer.body);
  };

  it("is not sent by the browser before the view is alive", async () => {
    expect(await html({ onSubmit: submit })).toBe('[0]<form method="dialog">…</form>[/0]');
    expect(await html({ onSubmit: submit, class: "wide" })).toBe('[0]<form class="wide" method="dialog">…</form>[/0]');
  });

  it("is sent as it says where it says how, or has no handler, or is no view's", async () => {
    expect(await html({ onSubmit: submit, method: "post" })).toBe('[0]<form method="post">…</form>[/0]');
    expect(await html({ onSubmit: submit, action: "/find" })).toBe('[0]<form action="/find">…</form>[/0]');
    expect(await html({})).toBe("[0]<form>…</form>[/0]");
    expect(await html({ action: "/find" }, "page")).toBe('<form action="/find">…</form>');
  });
});

describe("markup that is no markup", () => {
  const Later = (async () => h("p", null)) as unknown as () => null;

  it("is named when a component or a view returns a promise", async () => {
    for (const development of [true, false]) {
      const component = await answered(() => h("div", null, h(Later, {})), {}, { development });
      expect(component.logged).toEqual([expect.stringContaining("Later returned a promise")]);
      const LaterView = compiledView("LaterView", Later);
      const island = await answered(() => h(LaterView, {}), {}, { development });
      expect(island.logged).toEqual([expect.stringContaining("LaterView returned a promise")]);
    }
  });

  it("is told in development when an element is given a promise or a function", async () => {
    const development = { development: true };
    const promised = () => h("p", null, "a", Promise.resolve("b") as unknown as string);
    expect((await answered(promised, {}, development)).logged).toEqual([
      expect.stringContaining("<p> was given a promise"),
    ]);
    const dead = () => h("button", { onClick: () => 1 });
    expect((await answered(dead, {}, development)).logged).toEqual([
      expect.stringContaining("<button> was given a function (onClick) outside a view"),
    ]);
    const Alive = compiledView("Alive", () => h("button", { onClick: () => 1 }));
    expect(await answered(() => h(Alive, {}), {}, development)).toMatchObject({ status: 200, logged: [] });
  });

  it.each([
    ["an object", () => ({ a: 1 }), "The page gave an object (Object)"],
    ["a date", () => new Date(0), "The page gave an object (Date)"],
    ["an element with an object in it", () => h("p", null, { a: 1 } as never), "<p> was given an object (Object)"],
    ["an element with a date in it", () => h("p", null, "on ", new Date(0) as never), "<p> was given an object (Date)"],
  ])("is told in development: %s", async (_, run, sentence) => {
    const answer = await answered(run as never, {}, { development: true });
    expect(answer.logged).toEqual([expect.stringContaining(sentence)]);
  });

  it("of one page leaves no trace in the next", async () => {
    const Broken = compiledView("Broken", () => {
      throw new Error("broken");
    });
    expect((await answered(() => h(Broken, {}))).status).toBe(500);
    expect(unmarked((await answered(() => h(Hello, {}))).body)).toBe("[0]<b>Hello you</b>[/0]");
    const head = () => h(Head, null, h("meta", {}));
    expect((await answered(head)).status).toBe(200);
  });
});

describe("what a page throws", () => {
  it.each([
    [new NotFound(), 404, "There is nothing here."],
    [new NotFound("No <such> user."), 404, "No &lt;such> user."],
    [new RPCError("not_found", "Gone."), 404, "Gone."],
    [new RPCError("forbidden", "Not you."), 403, "Not you."],
    [new RPCError("unauthenticated", "Sign in."), 401, "Sign in."],
  ])("%s is told", async (error, status, words) => {
    const answer = await answered(async () => {
      throw error;
    });
    expect(answer).toMatchObject({ status, logged: [] });
    expect(answer.headers["cache-control"]).toBe("private, no-store");
    expect(answer.body.replaceAll("&gt;", ">")).toContain(`<p>${words}</p>`);
  });

  it.each([
    new RPCError("conflict", "the password is hunter2"),
    new Error("the password is hunter2"),
    new TypeError("the password is hunter2"),
    "the password is hunter2",
    null,
  ])("anything else (%s) is 500: the visitor gets the id, the log the rest", async (error) => {
    const answer = await answered(() => {
      throw error;
    });
    expect(answer.status).toBe(500);
    expect(answer.html).not.toContain("hunter2");
    expect(answer.body).toContain("<code>1</code>");
    expect(answer.logged).toEqual([`The page / failed ${error}`]);
  });

  it("session.require is one of these", async () => {
    expect((await answered(() => session.require().sub)).status).toBe(401);
  });

  it("in its markup is the same as in its function", async () => {
    const Missing = (): null => {
      throw new NotFound();
    };
    expect((await answered(() => h(Missing, {}))).status).toBe(404);
  });

  it("is shown to the developer where there is one", async () => {
    const showError = async (error: unknown, id: string) => `<pre>${String(error)} ${id}</pre>`;
    const fail = () => {
      throw new Error("broken");
    };
    expect(await answered(fail, {}, { showError })).toMatchObject({ status: 500, html: "<pre>Error: broken 1</pre>" });
    const gone = () => {
      throw new NotFound();
    };
    expect((await answered(gone, {}, { showError })).status).toBe(404);
    const { settings } = settingsWith({ showError });
    const context = contextWith();
    const unlisted = await runInContext(context, () => answerNotFound(context, settings));
    expect(unlisted.body).toContain("A page is served once its module is in modules of new App.");
  });
});

describe("the application's error page", () => {
  const error = ({ status, message, id }: ErrorPageProps) => h("h1", null, `${status} ${message} ${id}`);
  const fail = () => {
    throw new Error("broken");
  };

  it("is what is shown, in the layout", async () => {
    const layout = ({ children }: { readonly children: Markup }) => h("main", null, children);
    const answer = await answered(fail, { layout: false }, { error, layout });
    expect(answer.body).toBe("<main><h1>500 Something went wrong on the server. 1</h1></main>");
    expect(answer.html).toContain("<title>Something went wrong · Shop</title>");
    const { settings } = settingsWith({ error, layout });
    const context = contextWith();
    const missing = await runInContext(context, () => answerNotFound(context, settings));
    expect(missing.status).toBe(404);
    expect(missing.body).toContain("<main><h1>404 There is no page at this address. 1</h1></main>");
  });

  it.each<[string, Partial<PageSettings>]>([
    ["the layout throws", { layout: fail }],
    ["it throws itself", { error: fail }],
    ["it is async", { error: (async () => "x") as unknown as PageSettings["error"] }],
  ])("gives way to a plain one when %s", async (_, more) => {
    const gone = () => {
      throw new NotFound();
    };
    const answer = await answered(gone, { layout: false }, more);
    expect(answer.status).toBe(404);
    expect(answer.body).toBe("<main><h1>Not found</h1><p>There is nothing here.</p></main>");
    expect(answer.logged).toEqual([expect.stringContaining("The error page failed")]);
  });
});
