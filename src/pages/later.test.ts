import { h } from "preact";
import { describe, expect, it } from "vitest";
import { compiledPage, compiledView, getPage } from "#test/compiled-app";
import { chunksOf, gate, later, next, partOf, pause, servePage } from "#test/page-parts";
import { pageSettings } from "#test/render-page";
import { requestContextOf } from "#test/request-context";
import { request, run, runInContext } from "../http/index.ts";
import { publish } from "../live/index.ts";
import { session } from "../session/index.ts";
import { visitor } from "../testing/index.ts";
import { NotFound } from "./error-page.ts";
import { handlePage } from "./handle-page.ts";
import { LATER_SCRIPT, LATER_SCRIPT_PATH } from "./later-scripts.ts";
import { type PageDefinition, pageOf } from "./page.ts";

const whenDone = async <T>(wait: Promise<unknown>, show: () => T) => {
  await wait;
  return show();
};

describe("Later for a browser that loads the page", () => {
  it("sends the document with the fallback before the part runs, and the part when it is ready", async () => {
    const { open, opened } = gate();
    const steps: string[] = [];
    const { navigate } = servePage(() =>
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
    const { navigate } = servePage(() => [
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
    const { navigate } = servePage(() => later(() => "part"));
    const html = await (await navigate({}, "/?a=1&b=%26")).text();
    expect(html).toContain(`<link rel="preload" as="script" href="${LATER_SCRIPT_PATH}"></head>`);
    expect(html).toContain(`</script><script src="${LATER_SCRIPT_PATH}"></script></body></html>`);
    expect(html).toContain(
      '<noscript><meta http-equiv="refresh" content="0;url=/?a=1&amp;b=%26&amp;__whole=1"></noscript><?end>',
    );
  });

  it("runs with the request and the user of the first byte [LATER-9]", async () => {
    const { navigate } = servePage(() => {
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
    const html = await servePage(render).whole(init, path);
    expect(html).toContain("<body><main><p>figuresinner</p></main></body></html>");
    expect(html).not.toMatch(/<template|later-|noscript/);
  });

  it("sends the length of the whole page to HEAD", async () => {
    const { app } = servePage(render);
    const headers = { "sec-fetch-mode": "navigate" };
    const [head, get] = [await getPage(app, "/", { method: "HEAD", headers }), await getPage(app, "/")];
    expect(head.headers.get("content-length")).toBe(String((await get.text()).length));
  });

  it("hides the reserved parameter from the page", async () => {
    const { whole } = servePage(() => later(() => JSON.stringify(request.query)));
    expect(await whole({}, "/?a=1&__whole=1")).toContain("{&quot;a&quot;:&quot;1&quot;}");
  });

  it("shows the whole page to a visitor of a test", async () => {
    expect((await visitor(servePage(render).app).get("/")).text).toContain("<p>figuresinner</p>");
  });

  it("shows the parts of the layout of an error page", async () => {
    const { whole } = servePage(
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

describe("a part of a cached page", () => {
  it("is in its place for all clients, and is kept", async () => {
    let runs = 0;
    const { navigate } = servePage(() => later(async () => `run ${++runs}`), { page: { cache: { seconds: 60 } } });
    for (let visit = 0; visit < 2; visit++) expect(await (await navigate()).text()).toContain("<body>run 1</body>");
  });

  it("is a failure of the page when it fails, and is not kept [LATER-8]", async () => {
    let runs = 0;
    const render = () => later(() => (++runs === 1 ? Promise.reject(new Error("secret")) : "good"));
    const { navigate } = servePage(render, { page: { cache: { seconds: 60 } } });
    expect((await navigate()).status).toBe(500);
    expect(await (await navigate()).text()).toContain("<body>good</body>");
  });
});

describe("a part in a prefetch", () => {
  const headers = { "sec-purpose": "prefetch" };

  it("is sent as in a page", async () => {
    const { navigate } = servePage(() => later(() => "part"));
    expect(partOf(await (await navigate({ headers })).text())).toBe("part");
  });

  it.each(["navigate", "cors"])(
    "has no effect: the page is loaded again at the click, with mode %s [LATER-7]",
    async (mode) => {
      const effect = async () => {
        await publish("room", 1).catch(() => undefined); // the application may catch the error
        return "done";
      };
      const { app, errors } = servePage(() => later(effect));
      const response = await getPage(app, "/", { headers: { ...headers, "sec-fetch-mode": mode } });
      if (mode === "cors") expect(response.status).toBe(503);
      else expect(partOf(await response.text())).toBe('<meta http-equiv="refresh" content="0">');
      expect(errors()).toEqual([]);
    },
  );
});

describe("the script of parts", () => {
  it("is at most 1 KB, and is served as a file that browsers keep, without before", async () => {
    expect(Buffer.byteLength(LATER_SCRIPT)).toBeLessThanOrEqual(1024);
    const { app } = servePage(() => null, {
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
    const response = await servePage(() => h("p", null, "plain")).navigate();
    expect(await response.text()).not.toMatch(/later|template|noscript/);
    expect(response.headers.get("vary")).toBe("Accept-Encoding");
  });
});
