import { h } from "preact";
import { describe, expect, it } from "vitest";
import { compiledPage, compiledView, createTestApp, getPage } from "#test/compiled-app";
import { pageSettings } from "#test/render-page";
import { requestContextOf } from "#test/request-context";
import type { AppOptions } from "../app.ts";
import { redirect, request, run, runInContext } from "../http/index.ts";
import { publish } from "../live/index.ts";
import type { Markup } from "../protocol/index.ts";
import { session } from "../session/index.ts";
import { visitor } from "../testing/index.ts";
import { Head, Html } from "./document-elements.ts";
import { NotFound } from "./error-page.ts";
import { handlePage } from "./handle-page.ts";
import { Later } from "./later.ts";
import { LATER_SCRIPT, LATER_SCRIPT_PATH } from "./later-script.ts";
import { type PageDefinition, type PageOptions, pageOf } from "./page.ts";

type PartFunction = () => Markup | Promise<Markup>;

const later = (children: PartFunction, fallback: Markup = null) => h(Later, { fallback, children });
const whenDone = async <T>(wait: Promise<unknown>, show: () => T) => {
  await wait;
  return show();
};
const pause = (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms));

/** A promise and the function that resolves it. */
function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/** Serves a page, and records the log. */
function serve(render: () => Markup, { page = {}, ...options }: Partial<AppOptions> & { page?: PageOptions } = {}) {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const write = (level: string) => (fields: object, message?: string) => {
    lines.push({ level, fields: fields as Record<string, unknown>, message: message ?? "" });
  };
  const log = { error: write("error"), warn: write("warn"), info: write("info"), debug: write("debug") };
  const app = createTestApp({ home: compiledPage("/", render, page) }, { log, ...options } as Partial<AppOptions>);
  const errors = () => lines.filter(({ level }) => level === "error");
  const whole = async (init: RequestInit = {}, path = "/") => (await getPage(app, path, init)).text();
  const navigate = (init: RequestInit = {}, path = "/") =>
    getPage(app, path, { ...init, headers: { "sec-fetch-mode": "navigate", ...init.headers } });
  return { app, lines, errors, whole, navigate };
}

/** Reads the chunks of a response, as texts. */
async function* chunksOf(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) yield decoder.decode(chunk);
}

async function next(chunks: AsyncGenerator<string>): Promise<string> {
  const { value } = await chunks.next();
  return value ?? "";
}

const partOf = (html: string) => /<template for="[0-9a-f]{12}-\d+">(.*)<\/template>/s.exec(html)?.[1];

describe("Later for a browser that loads the page", () => {
  it("sends the document with the fallback before the part runs, and the part when it is ready", async () => {
    const { open, opened } = gate();
    const steps: string[] = [];
    const { navigate } = serve(() =>
      h(
        "main",
        null,
        later(
          async () => {
            steps.push("runs");
            await opened;
            return h("p", null, "figures");
          },
          h("i", null, "wait"),
        ),
      ),
    );
    const response = await navigate();
    const chunks = chunksOf(response);
    const document = await next(chunks);
    expect(steps).toEqual([]);
    expect(document).toMatch(/<main><\?start name="([0-9a-f]{12})-0"><i>wait<\/i><\?end><\/main>/);
    expect(document).not.toContain("</body>");
    const part = next(chunks);
    await expect.poll(() => steps).toEqual(["runs"]);
    open();
    expect(partOf(await part)).toBe("<p>figures</p>");
    expect(await next(chunks)).toBe("</body></html>");
    expect((await chunks.next()).done).toBe(true);
    expect(response.headers.get("vary")).toContain("Sec-Fetch-Mode");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
  });

  it("sends parts in the order in which they are ready, and those within parts after them", async () => {
    const { open, opened } = gate();
    const { navigate } = serve(() => [
      later(() => whenDone(opened, () => "first")),
      later(() =>
        h(
          "b",
          null,
          "second",
          later(() => whenDone(Promise.resolve(open()), () => "inner")),
        ),
      ),
    ]);
    const texts: (string | undefined)[] = [];
    for await (const chunk of chunksOf(await navigate())) texts.push(partOf(chunk));
    expect(texts[1]).toMatch(/^<b>second<\?start name="[0-9a-f]{12}-2"><\?end><\/b>$/);
    expect(texts.slice(2).sort()).toEqual(["first", "inner", undefined]);
  });

  it("links the script and the whole page, for browsers without the feature", async () => {
    const { navigate } = serve(() => later(() => "part"));
    const html = await (await navigate({}, "/?a=1&b=%26")).text();
    expect(html).toContain(`<link rel="preload" as="script" href="${LATER_SCRIPT_PATH}"></head>`);
    expect(html).toContain(`</script><script src="${LATER_SCRIPT_PATH}"></script></body></html>`);
    expect(html).toContain(
      '<noscript><meta http-equiv="refresh" content="0;url=/?a=1&amp;b=%26&amp;__whole=1"></noscript><?end>',
    );
  });

  it("runs with the request and the user of the first byte [LATER-9]", async () => {
    const { navigate } = serve(() => {
      session.login("ada");
      return later(async () => `${session.user()?.sub} ${await whenDone(pause(), () => request.query.q)}`);
    });
    expect(partOf(await (await navigate({}, "/?q=7")).text())).toBe("ada 7");
  });

  it("continues the numbers of islands, and brings the page data of the part", async () => {
    const Item = compiledView("Item", ({ n }: { readonly n: number }) => h("b", null, n));
    const definition = pageOf(
      compiledPage("/", () => [h(Item, { n: 1 }), later(() => h(Item, { n: 2 })), later(() => "<")]),
    );
    const { settings } = pageSettings({ base: "/shop" });
    const context = requestContextOf(
      new Request("http://shop.example/shop/", { headers: { "sec-fetch-mode": "navigate" } }),
    );
    const response = await runInContext(context, () =>
      run(handlePage(context, definition as PageDefinition, {}, settings)),
    );
    const chunks = chunksOf(new Response(response.body as ReadableStream));
    const [document, part, text] = [await next(chunks), await next(chunks), await next(chunks)];
    const [, mark] = /<!--([0-9a-f]{12}):0-->/.exec(document) ?? [];
    expect(document).toContain(`{"base":"/shop","mark":"${mark}","views":[{"src":"/shop/assets/Item.js"`);
    expect(document).toContain('</main><script type="module" async src="/shop/assets/islands.js"></script>'.slice(7));
    expect(partOf(part)).toBe(`<!--${mark}:1--><b>2</b><!--/${mark}:1-->`);
    expect(JSON.parse(/<script type="application\/json">(.*?)<\/script>/.exec(part)?.[1] ?? "")).toEqual({
      mark,
      part: 0,
      src: "/shop/assets/part-views.js",
      first: 1,
      views: [{ src: "/shop/assets/Item.js", name: "Item", props: { n: 2 } }],
    });
    expect(text).toContain(`<script type="application/json">{"mark":"${mark}","part":1}</script>`);
    expect(text).toContain(`<script src="/shop${LATER_SCRIPT_PATH}"></script>`);
  });

  it("has the page data of a page whose views are all in parts", async () => {
    const definition = pageOf(compiledPage("/", () => later(() => null)));
    const context = requestContextOf(
      new Request("http://shop.example/", { headers: { "sec-fetch-mode": "navigate" } }),
    );
    const { settings } = pageSettings();
    const response = await runInContext(context, () =>
      run(handlePage(context, definition as PageDefinition, {}, settings)),
    );
    expect(await next(chunksOf(new Response(response.body as ReadableStream)))).toContain('"views":[]}</script>');
  });
});

describe("Later for any other client", () => {
  const figures = () =>
    h(
      "p",
      null,
      "figures",
      later(() => "inner"),
    );
  const render = () =>
    h(
      "main",
      null,
      later(() => whenDone(pause(), figures), "wait"),
    );

  it.each([
    ["without Sec-Fetch-Mode", {}, "/"],
    ["with Sec-Fetch-Mode: cors", { headers: { "sec-fetch-mode": "cors" } }, "/"],
    ["with the reserved parameter", { headers: { "sec-fetch-mode": "navigate" } }, "/?__whole=1"],
    ["with the reserved parameter, percent-encoded", { headers: { "sec-fetch-mode": "navigate" } }, "/?%5F_whole=1"],
  ])("sends the parts in their places to a request %s", async (_, init, path) => {
    const html = await serve(render).whole(init, path);
    expect(html).toContain("<body><main><p>figuresinner</p></main></body></html>");
    expect(html).not.toMatch(/<template|later-|noscript/);
  });

  it("sends the length of the whole page to HEAD", async () => {
    const { app } = serve(render);
    const headers = { "sec-fetch-mode": "navigate" };
    const [head, get] = [await getPage(app, "/", { method: "HEAD", headers }), await getPage(app, "/")];
    expect(head.headers.get("content-length")).toBe(String((await get.text()).length));
  });

  it("hides the reserved parameter from the page", async () => {
    const { whole } = serve(() => later(() => JSON.stringify(request.query)));
    expect(await whole({}, "/?a=1&__whole=1")).toContain("{&quot;a&quot;:&quot;1&quot;}");
  });

  it("shows the whole page to a visitor of a test", async () => {
    expect((await visitor(serve(render).app).get("/")).text).toContain("<p>figuresinner</p>");
  });

  it("shows the parts of the layout of an error page", async () => {
    const { whole } = serve(
      () => {
        throw new NotFound("Nothing.");
      },
      {
        layout: ({ children }) =>
          h(
            "body",
            null,
            later(async () => "menu"),
            children,
          ),
      },
    );
    expect(await whole()).toContain("menu");
  });
});

describe("an error of a part", () => {
  const secret = new Error("secret");

  it.each(["navigate", "cors"])(
    "is shown in its place, logged with the request id, and counted, with mode %s [LATER-3]",
    async (mode) => {
      const { app, errors, lines } = serve(() => [later(() => Promise.reject(secret)), later(() => "good")], {
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
    const { whole } = serve(
      () => [
        h("table", null, h("tbody", null, later(fail))),
        h("table", null, h("tbody", null, h("tr", null, later(fail)))),
        h("ul", null, later(fail)),
      ],
      { error: async ({ status, message }) => h("i", null, `${status} ${message}`) },
    );
    const shown = "<i>500 Something went wrong on the server.</i>";
    expect(await whole()).toContain(
      `<table><tbody><tr><td colspan="1000">${shown}</td></tr></tbody></table><table><tbody><tr><td colspan="1000">${shown}</td></tr></tbody></table><ul><li>${shown}</li></ul>`,
    );
  });

  it("is shown by the default page if that of the application fails", async () => {
    const { whole, errors } = serve(() => later(() => Promise.reject(secret)), {
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
      const { app, errors } = serve(() => later(part));
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

  it("shows the message of NotFound", async () => {
    const { whole } = serve(() => later(() => Promise.reject(new NotFound("No such item."))));
    expect(await whole()).toContain("No such item.");
  });
});

describe("a part of a cached page", () => {
  it("is in its place for all clients, and is kept", async () => {
    let runs = 0;
    const { navigate } = serve(() => later(async () => `run ${++runs}`), { page: { cache: { seconds: 60 } } });
    for (let visit = 0; visit < 2; visit++) expect(await (await navigate()).text()).toContain("<body>run 1</body>");
  });

  it("is a failure of the page when it fails, and is not kept [LATER-8]", async () => {
    let runs = 0;
    const render = () => later(() => (++runs === 1 ? Promise.reject(new Error("secret")) : "good"));
    const { navigate } = serve(render, { page: { cache: { seconds: 60 } } });
    expect((await navigate()).status).toBe(500);
    expect(await (await navigate()).text()).toContain("<body>good</body>");
  });
});

describe("a part in a prefetch", () => {
  const headers = { "sec-purpose": "prefetch" };

  it("is sent as in a page", async () => {
    const { navigate } = serve(() => later(() => "part"));
    expect(partOf(await (await navigate({ headers })).text())).toBe("part");
  });

  it.each(["navigate", "cors"])(
    "has no effect: the page is loaded again at the click, with mode %s [LATER-7]",
    async (mode) => {
      const effect = async () => {
        await publish("room", 1).catch(() => undefined); // the application may catch the error
        return "done";
      };
      const { app, errors } = serve(() => later(effect));
      const response = await getPage(app, "/", { headers: { ...headers, "sec-fetch-mode": mode } });
      if (mode === "cors") expect(response.status).toBe(503);
      else expect(partOf(await response.text())).toBe('<meta http-equiv="refresh" content="0">');
      expect(errors()).toEqual([]);
    },
  );
});

describe("the end of parts", () => {
  it.each(["navigate", "cors"])(
    "aborts request.signal and shows 504 after later_timeout, with mode %s [LATER-4]",
    async (mode) => {
      const reasons: unknown[] = [];
      const { app, errors } = serve(
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
    const { navigate, errors } = serve(() =>
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
    const { navigate, errors } = serve(render);
    expect((await navigate()).status).toBe(500);
    expect(String(errors()[0]?.fields.err)).toContain(message);
  });

  it("cannot have a view in its fallback", async () => {
    const { navigate, errors } = serve(() => later(() => null, h(View, {})));
    expect((await navigate()).status).toBe(500);
    expect(String(errors()[0]?.fields.err)).toContain("The view Item is used in the fallback of <Later>");
  });

  it.each([
    ["no child", undefined, "<Later> has no child."],
    ["a promise", Promise.resolve("x"), "<Later> has a promise"],
    ["markup", h("p", null), "<Later> has markup as its child."],
  ])("needs a function, and names %s", async (_, child, message) => {
    const { whole, errors } = serve(() => h(Later, { children: child as never }));
    await whole();
    expect(String(errors()[0]?.fields.err)).toContain(message);
  });
});

describe("the script of parts", () => {
  it("is at most 1 KB, and is served as a file that browsers keep, without before", async () => {
    expect(Buffer.byteLength(LATER_SCRIPT)).toBeLessThanOrEqual(1024);
    const { app } = serve(() => null, {
      before: () => {
        throw new NotFound();
      },
    });
    const response = await getPage(app, LATER_SCRIPT_PATH);
    expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("max-age=31536000, immutable");
    expect(await response.text()).toBe(LATER_SCRIPT);
    expect((await getPage(app, LATER_SCRIPT_PATH, { method: "POST" })).status).toBe(405);
  });

  it("is not linked on a page without a part", async () => {
    const response = await serve(() => h("p", null, "plain")).navigate();
    expect(await response.text()).not.toMatch(/later|template|noscript/);
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
  });
});
