// biome-ignore-all lint/suspicious/noTemplateCurlyInString: source code that is compiled
/**
 * Templates, which the compile step makes of static markup: pages have the same bytes as without them.
 */
import fc from "fast-check";
import {
  type ComponentChildren,
  cloneElement,
  Fragment,
  h,
  isValidElement,
  options,
  toChildArray,
  type VNode,
} from "preact";
import { renderToString } from "preact-render-to-string";
import { describe, expect, it, vi } from "vitest";
import { compiledPage, compiledServer, createTestApp } from "#test/compiled-app";
import { evaluateMarkup } from "#test/evaluate-markup";
import { bodyOf, CSRF_ENV, postForm } from "#test/join-app";
import { Hello, renderPage, withoutIslandMarkers } from "#test/render-page";
import { RPCError } from "../errors.ts";
import type { Markup } from "../protocol/index.ts";
import { isTemplateNode, TemplateNode } from "./template-node.ts";

/** A component that puts its children into an element. */
const Box = ({ children }: { children?: ComponentChildren }) => h("b", null, children);

function describeNode(node: ComponentChildren): unknown {
  if (!isValidElement(node)) return typeof node === "object" ? "object" : String(node);
  const { children, ...props } = node.props as Record<string, unknown> & { children?: ComponentChildren };
  const type = typeof node.type === "string" ? node.type : node.type === Fragment ? "fragment" : "component";
  const shown = Object.entries(props).map(([name, value]) => `${name}=${typeof value}`);
  return [type, node.key ?? null, shown, toChildArray(children).map(describeNode)];
}

/** A component that inspects its children, clones them, and shows the result. */
const Inspect = ({ children }: { children?: ComponentChildren }) => {
  const nodes = toChildArray(children);
  const clones = nodes.map((node) => (isValidElement(node) ? cloneElement(node, { title: "clone" } as object) : node));
  return [JSON.stringify(nodes.map(describeNode)), clones, nodes] as unknown as VNode; // an array is markup too
};

const scope = { Box, Inspect, Hello };

/** Renders markup that is compiled with templates or without: the status, the body or what was logged, for each of three requests. */
async function renderings(code: string, values: readonly unknown[], hasTemplates: boolean): Promise<unknown[]> {
  const markup = await evaluateMarkup<() => Markup>(
    `const markup = () => ${code};`,
    { ...scope, V: values },
    hasTemplates,
  );
  const results: unknown[] = [];
  // The first node of a template is created without it.
  for (let request = 0; request < 3; request++) {
    const { status, body, logged } = await renderPage(markup);
    results.push(status === 200 ? withoutIslandMarkers(body) : [status, logged]);
  }
  return results;
}

async function expectSame(code: string, ...values: unknown[]): Promise<string> {
  const plain = await renderings(code, values, false);
  expect(await renderings(code, values, true), code).toEqual(plain);
  return String(plain[0]);
}

/** Returns whether the markup is the node of a template when it is created again. */
async function isTemplate(code: string, ...values: unknown[]): Promise<boolean> {
  const markup = await evaluateMarkup<() => Markup>(`const markup = () => ${code};`, { ...scope, V: values });
  markup();
  return isTemplateNode(markup());
}

it("adds px to the lengths of a style that are numbers, with a template and without", async () => {
  const style = "style={{ width: 4, aspectRatio: 2, gridRowStart: 2 }}";
  expect(await expectSame(`<p ${style}>a</p>`)).toContain('<p style="width:4px;aspect-ratio:2;grid-row-start:2;">');
  expect(await expectSame(`<p ${style} title={V[0]}>{V[1]}</p>`, "a", "b")).toContain("width:4px;aspect-ratio:2;");
});

const text = fc.constantFrom(
  "text", " ", "\n  ", " a  b ", "\n    two\n    lines\n  ", "&amp;", "&lt;b&gt;", "&nbsp;", "&quot;", "'", '"', "é€𝒳", "\t",
); // biome-ignore format: a list
const usual = fc.constantFrom<unknown>(
  "a",
  "<b>",
  "",
  `"&'`,
  7,
  null,
  undefined,
  false,
  true,
  "/path",
  ["a", "<"],
  h("i", null, "in"),
);
const unusual = fc.oneof(
  fc.constantFrom(
    "",
    "a",
    "<b>",
    `"&<>'`,
    "javascript:alert(1)",
    " java\tscript:x",
    "/path",
    "\0",
    "\x000\0",
    "]]>",
    "true",
  ),
  fc.string({ maxLength: 6 }),
  fc.constantFrom<unknown>(0, -0, 1.5, Number.NaN, true, false, null, undefined, 10n, Symbol.iterator),
  fc.constantFrom<unknown>(
    () => "called", new Date(0), new URL("https://shop.example/?a=1&b=2"), { color: "red", width: 4 }, { a: 1 }, {}, [],
    ["a", null, 0, "<i>", [true, "b"]], [new Date(0)], Promise.resolve(1), [Promise.resolve(1)],
    Object.freeze([h("i", { title: '"' }, "<"), "&"]), h("i", null, "in"), h(Hello, { name: "V" }), h(Fragment, null, 1, "2"),
    h("option", null, "a"), { peek: () => 1, value: "signal" }, Object.create(null), { $$typeof: Symbol.for("react.element") },
  ), // biome-ignore format: a list
);
const value = fc.oneof({ weight: 5, arbitrary: usual }, { weight: 1, arbitrary: unusual });
const index = fc.nat({ max: 5 });
const usualAttribute = fc
  .tuple(fc.constantFrom("class", "id", "title", "data-x", "aria-label", "hidden", "lang", "className"), index)
  .map(([name, at]) => ` ${name}={V[${at}]}`);
const anyAttribute = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        "class", "className", "title", "style", "hidden", "id", "data-x", "data-on", "aria-hidden", "draggable", "tabIndex",
        "tabindex", "viewBox", "strokeWidth", "stroke-width", "href", "src", "action", "for", "htmlFor", "value", "checked",
        "contenteditable", "xlinkHref", "role", "colSpan", "download", "onClick", "onclick", "ref", "spellcheck", "x1", "lang",
        "translate", "defaultValue", "selected", "panose1", "clip-path", "name", "type", "method", "formAction", "is",
      ), // biome-ignore format: a list
      fc.oneof(
        index.map((at) => `={V[${at}]}`),
        fc.constantFrom(
          "",
          '="a"',
          '=""',
          "='\"'",
          '="&quot;&amp;<"',
          '="java&#115;cript:x"',
          '="javascript:x"',
          "={1}",
        ),
        fc.constantFrom(
          "={true}",
          "={false}",
          "={null}",
          '={"<\\u0000>"}',
          `={"x"}`,
          "={undefined}",
          "={`/a/${V[0]}`}",
        ),
        fc.constantFrom('={{ color: "red", width: 4 }}', "={{ color: V[0] }}", "={`java${V[0]}`}", "={V[1] as never}"),
      ),
    )
    .map(([name, written]) => ` ${name}${written}`),
  index.map((at) => ` {...(V[${at}] as object)}`),
  index.map((at) => ` dangerouslySetInnerHTML={{ __html: V[${at}] }}`),
  index.map((at) => ` children={V[${at}]}`),
  fc.constantFrom(
    " {...{ key: 1, title: 'spread' }}",
    " /* comment */",
    "\n",
    ' dangerouslySetInnerHTML={{ __html: "<hr>" }}',
  ),
);
const attribute = fc.oneof({ weight: 2, arbitrary: usualAttribute }, { weight: 1, arbitrary: anyAttribute });
const VOID = ["br", "img", "hr", "input"];
const { element } = fc.letrec<{ element: string; child: string }>((tie) => ({
  child: fc.oneof(
    { maxDepth: 4 },
    text,
    index.map((at) => `{V[${at}]}`),
    fc.constantFrom(
      "{/* none */}",
      '{"<literal>"}',
      "{1}",
      "{true}",
      "{null}",
      "{}",
      "{(V[0], V[1])}",
      "{[V[0], V[1]]}",
      "{`t${V[2]}`}",
    ),
    index.map((at) => `{[1, 2].map((n) => <li key={n} class={V[${at}]}>{n}{V[${at}]}</li>)}`),
    fc.constantFrom(
      '<Hello name="in" />',
      "<Hello />",
      "{V[0] ? <i>yes</i> : <u>no</u>}",
      "<Box icon=<i>x</i>><i>x</i></Box>",
    ),
    tie("element"),
    tie("element"),
  ),
  element: fc.oneof(
    { maxDepth: 4 },
    fc
      .tuple(
        fc.constantFrom(
          "div", "p", "span", "a", "td", "li", "svg", "path", "g", "foreignObject", "linearGradient", "label", "pre", "title",
          "button", "form", "select", "option", "textarea", "script", "style", "my-element", "object", "animate", "math", "Box",
          "Inspect", "",
        ), // biome-ignore format: a list
        fc.constantFrom("", "", " key={V[0] as string}", ' key="k"', " key"), // before spread props, as JSX requires
        fc.array(attribute, { maxLength: 3 }),
        fc.array(tie("child"), { maxLength: 4 }),
      )
      .map(([name, key, attributes, children]) => {
        return `<${name}${name === "" ? "" : key + attributes.join("")}>${children.join("")}</${name}>`;
      }),
    fc
      .tuple(fc.constantFrom(...VOID), fc.array(attribute, { maxLength: 3 }))
      .map(([name, attributes]) => `<${name}${attributes.join("")} />`),
  ),
}));

describe("markup that is compiled to templates", () => {
  it("has the same bytes, nodes and errors as without templates", { timeout: 60_000 }, async () => {
    const shown = vi.spyOn(TemplateNode.prototype, "showHtml");
    await fc.assert(
      fc.asyncProperty(element, fc.array(value, { minLength: 6, maxLength: 6 }), async (code, values) => {
        await expectSame(code, ...values);
      }),
      { numRuns: 150 },
    );
    expect(shown.mock.calls.length).toBeGreaterThan(30); // otherwise this test has compared markup with itself
  });
});

describe("the text and the attributes of a template", () => {
  it("are escaped like those of other elements", async () => {
    const hostile = `"'><script>alert(1)</script>&amp;`;
    const body = await expectSame("<p title={V[0]} class={V[0]}>{V[0]}<b>{[V[0]]}</b></p>", hostile);
    expect(body).not.toContain("<script>");
  });

  it("show nothing of an object, and the value of a signal, as other elements do", async () => {
    expect(await expectSame("<p>{V[0]}<b>{V[1]}</b></p>", { secret: 1 }, [new Date(0)])).toBe("<p><b></b></p>");
    const signal = Object.assign(h("i", null, "node"), { peek: () => 1, value: "signal" });
    expect(await expectSame("<p>{V[0]}<b>{V[0]}</b></p>", signal)).toBe("<p><i>node</i><b>signal</b></p>");
    expect(await expectSame("<p title={V[0]}>x</p>", { toString: () => '"<&' })).toBe(
      '<p title="&quot;&lt;&amp;">x</p>',
    );
  });

  it.each(["javascript:alert(1)", " java\tscript:alert(1)", "JAVASCRIPT:x"])(
    "have no URL %j [SITE-22]",
    async (url) => {
      for (const name of ["href", "src", "xlinkHref", "action"]) {
        expect(await expectSame(`<p><a ${name}={V[0]}>x</a></p>`, url)).toBe("<p><a>x</a></p>");
        expect(await expectSame(`<p><a ${name}={\`${url.trim()}\${V[0]}\`}>x</a></p>`, "")).toBe("<p><a>x</a></p>");
        expect(await expectSame(`<p><a ${name}=${JSON.stringify(url).replace("\\t", "&#9;")}>x</a></p>`)).toBe(
          "<p><a>x</a></p>",
        );
      }
      expect(await expectSame("<p><a href={`/go?to=${V[0]}`}>x</a></p>", url)).toContain("/go?to=");
      expect(await expectSame("<p><a {...(V[0] as object)}>x</a></p>", { href: url })).toBe("<p><a>x</a></p>");
    },
  );

  it("have the names of the place, also in an image", async () => {
    await expectSame(
      "<svg viewBox='0 0 1 1' class={V[0]}><g strokeWidth='2'><path d='M0' fillRule='evenodd' /></g></svg>",
      "a",
    );
    await expectSame(
      "<svg>{[1, 2].map((x) => <g key={x} class={V[0]} stroke-width='1'><text x={x}>{V[1]}</text></g>)}</svg>",
      "a",
      "b",
    );
    await expectSame("<svg>{[1, 2].map((n) => <g key={n} panose1='1'>{V[0]}</g>)}</svg>", "a");
    await expectSame(
      "<svg><foreignObject><p tabIndex={1}>{V[0]}</p></foreignObject>{V[0]}</svg>",
      h("rect", { strokeWidth: 1 }),
    );
  });

  it.each([
    ["a promise", Promise.resolve(1)],
    ["an array with a promise", [Promise.resolve(1)]],
    ["an element of React", { $$typeof: Symbol.for("react.element"), type: "p" }],
    ["an array with an element of React", [{ $$typeof: Symbol.for("react.element"), type: "p" }]],
    ["a symbol", Symbol("x")],
  ])("with %s fail as other elements do", async (_, received) => {
    expect(await expectSame("<p><b>{V[0]}</b></p>", received)).toMatch(/^500,/);
  });
});

describe("the node of a template", () => {
  it("is that of its element for components, which may inspect and clone it", async () => {
    const code = "<Inspect><p key={V[0]} title={V[1]}><b>{V[1]}</b> <i>in</i></p></Inspect>";
    expect(await isTemplate("<p key={V[0]} title={V[1]}><b>{V[1]}</b> <i>in</i></p>", 1, "t")).toBe(true);
    const body = await expectSame(code, 1, "t");
    expect(body).toContain('<p title="clone"><b>t</b> <i>in</i></p><p title="t"><b>t</b> <i>in</i></p>');
  });

  it("is rendered outside a page by Preact itself", async () => {
    const source = "const markup = () => <p class={V[0]}>{V[1]}<b>{[1, 2].map((n) => <i key={n}>{n}</i>)}</b></p>;";
    const markup = await evaluateMarkup<() => VNode>(source, { V: ["a", "<"] });
    const once = renderToString(markup());
    expect(renderToString(markup())).toBe(once);
    expect(once).toBe('<p class="a">&lt;<b><i>1</i><i>2</i></b></p>');
  });

  it("may be created once and rendered at several places and for several requests", async () => {
    const source = `const shared = [0, 1].map(() => <p class={V[0]}><Box>{V[0]}</Box></p>)[1];
      const markup = () => <main>{shared}<Inspect>{shared}</Inspect>{shared}</main>;`;
    const plain = await evaluateMarkup<() => Markup>(source, { ...scope, V: ["<"] }, false);
    const markup = await evaluateMarkup<() => Markup>(source, { ...scope, V: ["<"] });
    const { body: expected } = await renderPage(plain);
    for (let request = 0; request < 3; request++) expect((await renderPage(markup)).body).toBe(expected);
  });

  it("is that of its element in development, whose checks see all elements", async () => {
    const markup = await evaluateMarkup<() => Markup>("const markup = () => <p><div>{V[0]}</div></p>;", { V: ["a"] });
    markup();
    const { logged } = await renderPage(markup, {}, { development: true });
    expect(logged.join()).toContain("<div> cannot be inside <p>");
  });

  it("is no template while hooks of other code see nodes", async () => {
    const markup = await evaluateMarkup<() => Markup>("const markup = () => <p><b>{V[0]}</b></p>;", { V: ["a"] });
    markup();
    await renderPage(markup); // the first rendering of a template renders its elements
    const seen: unknown[] = [];
    const hooks = options as typeof options & { __b?: (vnode: VNode) => void }; // Preact's types omit __b
    const before = hooks.__b;
    hooks.__b = (vnode) => {
      seen.push(vnode.type);
      before?.(vnode);
    };
    try {
      expect((await renderPage(markup)).body).toBe("<p><b>a</b></p>");
    } finally {
      if (before) hooks.__b = before;
    }
    expect(seen).toEqual(expect.arrayContaining(["p", "b"]));
  });
});

describe("a form among templates", () => {
  it("shows what was typed, has its token and its address, and the fields of other forms do not", async () => {
    const save = compiledServer("save", () => {
      throw new RPCError("conflict", "Taken.", { parameter: "email" });
    }, { params: { email: { type: "any", shape: { kinds: ["string"] } } } }); // biome-ignore format: one line
    const source = `const field = (name) => <p class={name}><label>{name} <input name={name} /></label></p>;
      const markup = () => <main><h1>{"Join"}</h1><form action={save}><div class="fields">{["email", "other"].map(field)}</div>
        <select name="s"><option>a</option></select><button formAction={save}>Join</button></form>{field("email")}</main>;`;
    const bodies = await Promise.all(
      [false, true].map(async (hasTemplates) => {
        const page = compiledPage("/", await evaluateMarkup<() => Markup>(source, { save }, hasTemplates));
        const app = createTestApp({ save, page }, { env: CSRF_ENV });
        await bodyOf(await app.fetch(new Request("http://shop.example/")));
        const fields = { email: "ada@example.com", other: "2", s: "a" };
        return bodyOf(await postForm(app, "/?__form=save", { fields }));
      }),
    );
    const [plain, compiled] = bodies.map((body) => body.replace(/name="__csrf" value="[^"]+"/, "[token]"));
    expect(compiled).toBe(plain);
    expect(compiled?.match(/value="ada@example.com"/g)).toHaveLength(1);
    expect(compiled).toContain("[token]");
  });
});

it("the first line feed of an element that the HTML parser would remove is written twice", async () => {
  expect(await expectSame("<pre>{V[0]}</pre>", "\na")).toBe("<pre>\n\na</pre>");
  expect(await expectSame('<div><pre title="a>b">{V[0]}</pre></div>', "\na")).toContain("\n\na");
  expect(await expectSame('<pre>{"\\na"}</pre>')).toBe("<pre>\n\na</pre>");
  expect(await expectSame("<textarea defaultValue={V[0]} />", "\na")).toBe("<textarea>\n\na</textarea>");
  expect(await expectSame("<pre><Box>{V[0]}</Box></pre>", "\na")).toBe("<pre>\n<b>\na</b></pre>");
  expect(await expectSame("<pre>a{V[0]}</pre>", "\na")).toBe("<pre>a\na</pre>");
});
