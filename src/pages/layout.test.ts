import { h } from "preact";
import { describe, expect, it } from "vitest";
import { Hello, pageSettings, renderPage, withoutIslandMarkers } from "#test/render-page";
import { requestContext, requestContextOf } from "#test/request-context";
import { RPCError } from "../errors.ts";
import { once, redirect, request, runInContext } from "../http/index.ts";
import type { Markup } from "../protocol/index.ts";
import { session } from "../session/index.ts";
import { NotFound } from "./error-page.ts";
import { handleNotFound } from "./handle-page.ts";
import { checkLayout, type Layout } from "./layout.ts";

type Children = { readonly children: Markup };

/** Returns a promise and the function that resolves it. */
function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

const asyncLayout = async ({ children }: Children) => {
  await null;
  return h("main", null, children);
};

describe("an async layout", () => {
  it("loads its data while the page does: each waits for the other to have started", async () => {
    const [inLayout, inPage] = [deferred(), deferred()];
    const layout = async ({ children }: Children) => {
      inLayout.resolve();
      await inPage.promise;
      return h("main", null, children);
    };
    const response = await renderPage(
      async () => {
        inPage.resolve();
        await inLayout.promise;
        return "page";
      },
      {},
      { layout },
    );
    expect(response.body).toBe("<main>page</main>");
  });

  it("surrounds the markup of the page, with views in both, and with <Head> of both", async () => {
    const layout = async ({ children }: Children) => [h(Hello, { name: "layout" }), h("main", null, children)];
    const { body, views } = await renderPage(
      async () => [h(Hello, { name: "page" }), h("p", null, "x")],
      {},
      { layout },
    );
    expect(withoutIslandMarkers(body)).toBe("[0]<b>Hello layout</b>[/0]<main>[1]<b>Hello page</b>[/1]<p>x</p></main>");
    expect(views.map(({ props }) => props)).toEqual([{ name: "layout" }, { name: "page" }]);
  });

  it("is called once for a page, and can leave the page out or repeat it", async () => {
    let calls = 0;
    const layout = async ({ children }: Children) => {
      calls++;
      return [children, "-", children];
    };
    expect((await renderPage(() => h("p", null), {}, { layout })).body).toBe("<p></p>-<p></p>");
    expect((await renderPage(() => "x", {}, { layout: async () => "closed" })).body).toBe("closed");
    expect(calls).toBe(1);
  });

  it("of a page replaces that of the application, which is not called", async () => {
    const layout = async () => {
      throw new Error("not called");
    };
    expect((await renderPage(() => "x", { layout: asyncLayout }, { layout })).body).toBe("<main>x</main>");
    expect((await renderPage(() => "x", { layout: false }, { layout })).body).toBe("x");
  });

  it("is called by a layout that is nested in it", async () => {
    const admin: Layout = ({ children }) => asyncLayout({ children: h("section", null, children) });
    expect((await renderPage(() => "x", { layout: admin }, { layout: asyncLayout })).body).toBe(
      "<main><section>x</section></main>",
    );
  });

  it("has request and session, and sees a sign-in of the page before its first await", async () => {
    const layout = async ({ children }: Children) => [request.method, " ", session.user()?.sub, " ", children];
    const page = async () => {
      session.login("ada");
      return session.user()?.sub;
    };
    expect((await renderPage(page, {}, { layout })).body).toBe("GET ada ada");
  });

  it("shares data with its page by once()", async () => {
    let runs = 0;
    const board = once(async () => {
      runs++;
      return "board";
    });
    const layout = async ({ children }: Children) => [await board(), ": ", children];
    expect((await renderPage(async () => [await board(), "!"], {}, { layout })).body).toBe("board: board!");
    expect(runs).toBe(1);
  });

  it("is an error in development if it returns no markup", async () => {
    const development = true;
    const showError = async (error: unknown) => String(error);
    const layout = async () => undefined;
    const { status, html } = await renderPage(() => "x", {}, { layout, development, showError });
    expect([status, html]).toEqual([
      500,
      "TypeError: The layout returned undefined. Return its markup, or null for an empty page.",
    ]);
  });
});

const refuse =
  (error: unknown): Layout =>
  async () => {
    throw error;
  };

const OUTCOMES: readonly (readonly [string, () => Markup | Promise<Markup>, readonly string[]])[] = [
  ["returns markup", () => "secret page", []],
  ["loads for longer", async () => new Promise((resolve) => setTimeout(resolve, 5, "secret page")), []],
  [
    "throws NotFound",
    () => {
      throw new NotFound("no such secret");
    },
    [],
  ],
  [
    "rejects unexpectedly",
    async () => {
      throw new Error("secret reason");
    },
    ["The page / failed Error: secret reason"],
  ],
];

describe.each(OUTCOMES)("a layout that refuses, around a page that %s", (_, page, logged) => {
  it("decides the response with its redirect [RESPONSE-1]", async () => {
    for (const layout of [refuse(redirect("/sign-in")), async () => redirect("/sign-in")]) {
      const response = await renderPage(page, {}, { layout });
      expect(response).toMatchObject({ status: 303, headers: { location: "/sign-in" }, html: "" });
      expect(response.logged).toEqual(logged);
    }
  });

  it("decides the response with its error, on the error page without this layout [RESPONSE-2]", async () => {
    const error = ({ status, message }: { status: number; message: string }) => `${status} ${message}`;
    const response = await renderPage(page, {}, { layout: refuse(new RPCError("forbidden", "Members only.")), error });
    expect([response.status, response.body]).toEqual([403, "403 Members only."]);
    expect(response.logged).toEqual(logged);
  });

  it("that is the page's own has the error page in the layout of the application", async () => {
    const layout = refuse(new RPCError("forbidden", "Members only."));
    const response = await renderPage(page, { layout }, { layout: asyncLayout });
    expect(response.status).toBe(403);
    expect(response.body).toBe("<main><div><h1>Not allowed</h1><p>Members only.</p></div></main>");
  });
});

describe("a layout that fails", () => {
  it("is a 500 that is logged, on the error page without this layout", async () => {
    const layout = refuse(new Error("the database is down"));
    const response = await renderPage(() => "x", {}, { layout, error: ({ id }) => `sorry ${id}` });
    expect([response.status, response.body]).toEqual([500, "sorry 1"]);
    expect(response.logged).toEqual(["The layout of the page / failed Error: the database is down"]);
    expect(response.html).not.toContain("database");
  });
});

describe("the error page", () => {
  it("can be async, and loads its data while its layout does", async () => {
    const [inLayout, inError] = [deferred(), deferred()];
    const layout = async ({ children }: Children) => {
      inLayout.resolve();
      await inError.promise;
      return h("main", null, children);
    };
    const error = async ({ status }: { status: number }) => {
      inError.resolve();
      await inLayout.promise;
      return `error ${status}`;
    };
    const context = requestContext();
    const { settings } = pageSettings({ layout, error });
    const response = await runInContext(context, () => handleNotFound(context, settings));
    expect(response.status).toBe(404);
    expect(response.body).toContain("<main>error 404</main>");
  });

  it.each([
    ["GET", "list its module in `modules` of new App"],
    [
      "POST",
      'write a server function as its action: `<form action={save}>`. For other clients, declare `route("POST /path", …)`.',
    ],
    ["DELETE", 'A page receives no DELETE. For other clients, declare `route("DELETE /path", …)`.'],
  ])("of an unknown path explains in development how to handle a %s", async (method, hint) => {
    const messageWith = async (options: object) => {
      const context = requestContextOf(new Request("http://localhost/sign", { method }));
      let shown = "";
      const error = (props: { message: string }) => {
        shown = props.message;
        return "";
      };
      const { settings } = pageSettings({ error, ...options });
      await runInContext(context, () => handleNotFound(context, settings));
      return shown;
    };
    expect(await messageWith({ showError: async () => "" })).toContain(hint);
    expect(await messageWith({})).toBe("There is no page at this address.");
  });

  it("is in the layout that has run for the page: the layout is called once", async () => {
    let calls = 0;
    const layout = async ({ children }: Children) => h("main", null, ++calls, children);
    const page = async () => {
      throw new NotFound();
    };
    const response = await renderPage(page, {}, { layout, error: ({ status }) => ` ${status}` });
    expect([response.status, response.body, response.logged]).toEqual([404, "<main>1 404</main>", []]);
  });

  it("after an unexpected error is in a layout that does not see the discarded sign-in", async () => {
    const user = once(() => session.user()?.sub ?? "nobody");
    const layout = async ({ children }: Children) => [user(), ": ", children];
    const page = () => {
      session.login("ada");
      user();
      throw new Error("broken");
    };
    const response = await renderPage(page, {}, { layout, error: ({ status }) => status });
    expect([response.status, response.body]).toEqual([500, "nobody: 500"]);
  });

  it("of an unknown path is refused by a layout that refuses: its status and its redirect win", async () => {
    const respond = async (layout: Layout) => {
      const context = requestContext();
      const { settings, logged } = pageSettings({ layout, error: ({ status }) => `error ${status}` });
      const { status, headers, body } = await runInContext(context, () => handleNotFound(context, settings));
      expect(logged).toEqual([]);
      return { status, location: headers?.location, body: String(body) };
    };
    expect(await respond(refuse(redirect("/sign-in")))).toMatchObject({ status: 303, location: "/sign-in" });
    const forbidden = await respond(refuse(new RPCError("forbidden", "No.")));
    expect(forbidden.status).toBe(403);
    expect(forbidden.body).toContain("error 403");
  });
});

describe("the option layout", () => {
  it.each<[string, unknown, string, string]>([
    ["markup", h("main", null), "markup", "Pass the function itself, without calling it: `layout: Layout`"],
    ["a promise", asyncLayout({ children: null }), "a promise", "Pass the function itself, without calling it"],
    ["a string", "main", "of type string", "Write `layout: ({ children }) => <main>{children}</main>`"],
    ["true", true, "of type boolean", "Write `layout: ({ children }) =>"],
  ])("is refused if it is %s, with how to fix it", (_, layout, received, fix) => {
    const check = () => checkLayout(layout, 'page("/")');
    expect(check).toThrow(`page("/"): layout must be a function that returns markup, and it is ${received}. ${fix}`);
  });

  it.each([asyncLayout, false, null, undefined])("may be %s", (layout) => {
    expect(() => checkLayout(layout, "new App")).not.toThrow();
  });
});
