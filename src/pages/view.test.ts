import { type ComponentChildren, createContext, Fragment, type FunctionComponent, h } from "preact";
import { useContext, useId } from "preact/hooks";
import { renderToString } from "preact-render-to-string";
import { describe, expect, it } from "vitest";
import { compiledView } from "#test/compiled-app";
import { Hello, renderPage, withoutIslandMarkers } from "#test/render-page";
import type { Markup } from "../protocol/index.ts";
import { Head } from "./document-elements.ts";
import { jsx } from "./jsx-runtime.ts";
import { view } from "./view.ts";

describe("a view on a page", () => {
  it("is an island at each place where it is outermost", async () => {
    const { body, views, html } = await renderPage(() => [
      h(Hello, { name: "a" }),
      h("i", null, h(Hello, { name: "b" })),
    ]);
    expect(withoutIslandMarkers(body)).toBe("[0]<b>Hello a</b>[/0]<i>[1]<b>Hello b</b>[/1]</i>");
    expect(views).toEqual([
      { src: "/assets/Hello.js", name: "Hello", props: { name: "a" } },
      { src: "/assets/Hello.js", name: "Hello", props: { name: "b" } },
    ]);
    expect(html).toContain('<script type="module" src="/assets/islands.js">');
  });

  it("is part of the outer view's island inside another view", async () => {
    const Through = ({ children }: { children?: ComponentChildren }) => h("p", null, children);
    const Outer = compiledView("Outer", () => h(Through, null, h(Hello, { name: "in" }), "x"));
    const { body, views } = await renderPage(() => [h(Outer, {}), h(Hello, {})]);
    expect(withoutIslandMarkers(body)).toBe("[0]<p><b>Hello in</b>x</p>[/0][1]<b>Hello you</b>[/1]");
    expect(views.map(({ name }) => name)).toEqual(["Outer", "Hello"]);
  });

  it("has comments with a new random mark in every response", async () => {
    const markOf = async () => /<!--([\w-]+):0-->/.exec((await renderPage(() => h(Hello, {}))).body)?.[1];
    const marks = new Set(await Promise.all(Array.from({ length: 200 }, markOf)));
    expect(marks.size).toBe(200);
    for (const mark of marks) expect(mark).toMatch(/^[0-9a-f]{12}$/);
  });

  it("is rendered with the props as the browser receives them", async () => {
    const Typed = compiledView("Typed", (props: Record<string, unknown>) =>
      h(
        "b",
        null,
        Object.entries(props).map(([name, value]) => `${name}:${typeof value}:${JSON.stringify(value)} `),
      ),
    );
    const props = { at: new Date(0), none: undefined, big: 1n, map: new Map([["a", 1]]), ok: true };
    const { body, views } = await renderPage(() => h(Typed, props));
    expect(views[0]?.props).toEqual({ at: "1970-01-01T00:00:00.000Z", big: "1", map: { a: 1 }, ok: true });
    expect(body).toContain("at:string:");
    expect(body).not.toContain("none");
  });

  it.each<[string, object, string]>([
    ["children", { children: "x" }, "The view Hello has children"],
    ["a function", { onPick: () => 1 }, "onPick cannot be sent: a function cannot be sent as JSON"],
    ["a function inside", { on: { pick: [() => 1] } }, "on.pick[0] cannot be sent"],
    ["markup", { icon: h("i", null) }, "The view Hello has markup as the prop icon"],
    ["markup inside", { icons: [h("i", null)] }, "icons[0] cannot be sent: markup"],
    ["a promise", { user: Promise.resolve(1) }, "user cannot be sent: it is a promise"],
    ["a symbol", { mark: Symbol("s") }, "mark cannot be sent"],
  ])("is rejected with %s, and the error names the prop", async (_, props, message) => {
    const { status, logged } = await renderPage(() => h(Hello, props));
    expect(status).toBe(500);
    expect(logged).toEqual([expect.stringContaining(message)]);
    expect(logged[0]).toContain("The view Hello");
  });

  it("is rejected with a prop named __proto__, which would set the prototype of its props [REQUEST-85]", async () => {
    const Card = compiledView("Card", (props: { admin?: boolean }) => h("b", null, String(props.admin)));
    const untrusted = JSON.parse('{"__proto__":{"admin":true}}');
    // The type is that of a component of any props, as JSX checks them itself.
    const { status, logged, body } = await renderPage(() => jsx(Card as FunctionComponent<unknown>, { ...untrusted }));
    expect([status, body.includes("<b>true</b>")]).toEqual([500, false]);
    expect(logged).toEqual([expect.stringContaining("The view Card has a prop named __proto__")]);
  });

  it("is rejected as a function that the page calls, and is accepted as one that a component calls", async () => {
    const { status, logged } = await renderPage(() => Hello({ name: "a" }) as Markup);
    expect(status).toBe(500);
    expect(logged).toEqual([
      expect.stringContaining("The view Hello is called as a function. Write it as an element: <Hello … />."),
    ]);
    const Part = () => Hello({ name: "a" });
    expect(withoutIslandMarkers((await renderPage(() => h(Part, {}))).body)).toBe("[0]<b>Hello a</b>[/0]");
    expect(renderToString(h(Part, {}))).toBe("<b>Hello a</b>");
  });

  it("can have children inside another view", async () => {
    const Box = compiledView("Box", ({ children }: { children?: ComponentChildren }) => h("p", null, children));
    const Outer = compiledView("Outer", () => h(Box, null, h("b", { onClick: () => 1 })));
    expect(withoutIslandMarkers((await renderPage(() => h(Outer, {}))).body)).toBe("[0]<p><b></b></p>[/0]");
  });

  it("is rejected if its module was not compiled", async () => {
    const Raw = view(function Raw() {
      return h("b", null);
    });
    const { logged } = await renderPage(() => h(Raw, {}));
    expect(logged).toEqual([expect.stringContaining("The view Raw is in a module that tsweb has not compiled")]);
  });

  it("has ids from useId that are unique in the page", async () => {
    const Labelled = compiledView("Labelled", () => h("b", { id: useId() }, h(Inner, {})));
    const Inner = () => h("i", { id: useId() });
    const { body } = await renderPage(() => [h(Labelled, {}), h(Inner, {}), h(Labelled, {}), h(Inner, {})]);
    const ids = [...body.matchAll(/id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toHaveLength(6);
    expect(new Set(ids).size).toBe(6);
  });

  it("leaves contexts intact for components outside views", async () => {
    const Theme = createContext("light");
    const Themed = () => h("i", null, useContext(Theme));
    const { body } = await renderPage(() => h(Theme.Provider, { value: "dark", children: h(Themed, null) }));
    expect(body).toBe("<i>dark</i>");
  });
});

describe("a form in a view", () => {
  const submit = () => undefined;
  const html = async (props: object, location: "view" | "page" = "view") => {
    const form = () => h("form", props, "…");
    const response = await renderPage(() => h(location === "view" ? compiledView("Form", form) : form, {}));
    return withoutIslandMarkers(response.body);
  };

  it("is not submitted by the browser before hydration if it has onSubmit", async () => {
    expect(await html({ onSubmit: submit })).toBe('[0]<form method="dialog">…</form>[/0]');
    expect(await html({ onSubmit: submit, class: "wide" })).toBe('[0]<form class="wide" method="dialog">…</form>[/0]');
  });

  it("is left unchanged with a method or an action, without onSubmit, or outside a view", async () => {
    expect(await html({ onSubmit: submit, method: "post" })).toBe('[0]<form method="post">…</form>[/0]');
    expect(await html({ onSubmit: submit, action: "/find" })).toBe('[0]<form action="/find">…</form>[/0]');
    expect(await html({})).toBe("[0]<form>…</form>[/0]");
    expect(await html({ action: "/find" }, "page")).toBe('<form action="/find">…</form>');
  });
});

describe("an attribute with a javascript: URL", () => {
  const url = " java\nscript:alert(1)";
  const elements: [element: Markup, html: string][] = [
    [h("a", { href: url, title: "x" }, "y"), '<a title="x">y</a>'],
    [h("iframe", { src: url }), "<iframe></iframe>"],
    [h("form", { action: url }), "<form></form>"],
    [h("button", { formAction: url }), "<button></button>"],
    [h("object", { data: url }), "<object></object>"],
    [h("svg", null, h("a", { xlinkHref: url })), "<svg><a></a></svg>"],
    [h("a", { href: "https://shop.example/" }), '<a href="https://shop.example/"></a>'],
  ];

  it.each(elements)("is left out of the page, outside and inside a view: %# [SITE-20]", async (element, html) => {
    expect((await renderPage(() => element)).body).toBe(html);
    expect(
      withoutIslandMarkers(
        (
          await renderPage(() =>
            h(
              compiledView("V", () => element),
              {},
            ),
          )
        ).body,
      ),
    ).toBe(`[0]${html}[/0]`);
  });

  it("is reported in development, with the element, the attribute and the fix", async () => {
    const { logged, status } = await renderPage(() => h("a", { href: url }), {}, { development: true });
    expect(status).toBe(200);
    expect(logged).toEqual([
      expect.stringContaining(
        'The attribute href of <a> is left out: its URL " java\\nscript:alert(1)" would run as a script of the page. Accept only URLs that start with "https:", "http:" or "/"',
      ),
    ]);
    expect((await renderPage(() => h("a", { href: url }))).logged).toEqual([]);
  });
});

describe("an event handler that is no function", () => {
  const code = "alert(1)";
  const elements: [element: Markup, html: string][] = [
    [h("b", { onClick: code as never, title: "x" }, "y"), '<b title="x">y</b>'],
    [h("b", { ONCLICK: code as never, title: "x" }, "y"), '<b title="x">y</b>'],
    [h("b", { OnClick: code as never, oNclick: code, onclicK: code }, "y"), "<b>y</b>"],
    [h("a", { onMouseOver: Object(code), onfocus: "own()" } as object), '<a onfocus="own()"></a>'],
    [h("input", { onInputCapture: true as never }), "<input/>"],
    [h("svg", null, h("a", { onClick: code as never })), "<svg><a></a></svg>"],
    [h("my-list", { onOpen: "first" } as object), '<my-list onOpen="first"></my-list>'],
    [h("my-list", { onOpen: "first", onClick: code, ONLOAD: code } as object), '<my-list onOpen="first"></my-list>'],
  ];

  it.each(elements)(
    "is not rendered as an inline handler, outside and inside a view: %# [SITE-23]",
    async (element, html) => {
      expect((await renderPage(() => element)).body).toBe(html);
      const View = compiledView("V", () => element);
      expect(withoutIslandMarkers((await renderPage(() => h(View, {}))).body)).toBe(`[0]${html}[/0]`);
    },
  );
});

describe("invalid markup", () => {
  const Later = (async () => h("p", null)) as unknown as () => null;

  it("names the component or view that returned a promise", async () => {
    for (const development of [true, false]) {
      const component = await renderPage(() => h("div", null, h(Later, {})), {}, { development });
      expect(component.logged).toEqual([expect.stringContaining("Later returned a promise")]);
      const LaterView = compiledView("LaterView", Later);
      const island = await renderPage(() => h(LaterView, {}), {}, { development });
      expect(island.logged).toEqual([expect.stringContaining("LaterView returned a promise")]);
    }
  });

  const promise = Promise.resolve("late") as unknown as string;
  it.each([
    ["a child", () => h("p", null, promise), "<p>"],
    ["one of several children", () => h("p", null, "a", promise), "<p>"],
    [
      "a child in an array",
      () =>
        h(
          "ul",
          null,
          "a",
          [1, 2].map(() => promise),
        ),
      "<ul>",
    ],
    ["a child in nested arrays", () => h("ul", null, [["a", [promise]]]), "<ul>"],
    ["a child of a fragment", () => h("p", null, h(Fragment, null, promise)), "<>"],
    ["an array that the page returns", () => [h("p", null), promise] as never, "<>"],
    [
      "a child inside a view",
      () =>
        h(
          compiledView("V", () => h("b", null, promise)),
          {},
        ),
      "<b>",
    ],
  ])("is rejected, in production too: a promise as %s", async (_, run, element) => {
    for (const development of [true, false]) {
      const response = await renderPage(run, {}, { development });
      expect(response.status).toBe(500);
      expect(response.logged).toEqual([
        expect.stringContaining(`A promise cannot be rendered in ${element}. Await it`),
      ]);
    }
  });

  it("is rejected, in production too: a component that returns an array with a promise", async () => {
    const Rows = () => [h("li", null), promise] as never;
    const response = await renderPage(() => h("ul", null, h(Rows, {})));
    expect(response.logged).toEqual([expect.stringContaining("Rows returned a promise")]);
  });

  it("is rejected in development: a promise, and a function outside a view", async () => {
    const development = { development: true };
    const promised = () => h("p", null, "a", Promise.resolve("b") as unknown as string);
    expect((await renderPage(promised, {}, development)).logged).toEqual([
      expect.stringContaining("A promise cannot be rendered in <p>"),
    ]);
    const inPage = () => h("button", { onClick: () => 1 });
    expect((await renderPage(inPage, {}, development)).logged).toEqual([
      expect.stringContaining("The prop onClick of <button> is a function"),
    ]);
    const InView = compiledView("InView", () => h("button", { onClick: () => 1 }));
    expect(await renderPage(() => h(InView, {}), {}, development)).toMatchObject({ status: 200, logged: [] });
  });

  it.each([
    ["an object", () => ({ a: 1 }), "The page returned an object (Object)"],
    ["a date", () => new Date(0), "The page returned an object (Date)"],
    ["a response", () => new Response("x"), "Return markup, or declare a route(), which returns a Response."],
    [
      "an element with an object in it",
      () => h("p", null, { a: 1 } as never),
      "An object (Object) cannot be rendered in <p>",
    ],
    [
      "an element with a date in it",
      () => h("p", null, "on ", new Date(0) as never),
      "An object (Date) cannot be rendered in <p>",
    ],
  ])("is rejected in development: %s", async (_, run, message) => {
    const response = await renderPage(run as never, {}, { development: true });
    expect(response.logged).toEqual([expect.stringContaining(message)]);
  });

  it("does not affect the next rendering", async () => {
    const Broken = compiledView("Broken", () => {
      throw new Error("broken");
    });
    expect((await renderPage(() => h(Broken, {}))).status).toBe(500);
    expect(withoutIslandMarkers((await renderPage(() => h(Hello, {}))).body)).toBe("[0]<b>Hello you</b>[/0]");
    const head = () => h(Head, null, h("meta", {}));
    expect((await renderPage(head)).status).toBe(200);
  });
});
