import { type ComponentChildren, h } from "preact";
import { describe, expect, it } from "vitest";
import { compiledServer, compiledView } from "#test/compiled-app";
import { type FormResponse, renderForm } from "#test/render-form";
import { form } from "../forms/index.ts";
import { form as viewForm } from "./view.ts";

const STRING = { type: "any", shape: { kinds: ["string"] } } as const;
const LIST = { type: "any", shape: { list: { of: { kinds: ["string"] } } } } as const;

const save = compiledServer("save", () => 1, { params: { name: STRING, tags: LIST, terms: "boolean" } });
const publish = compiledServer("publish", () => 1, { params: { name: STRING } });
const watch = compiledServer("watch", function* () { yield 1; }, { stream: true }); // biome-ignore format: one line

/** Returns the children of the form of `save`, after the summary. */
async function renderFields(fields: ComponentChildren, shown: FormResponse = {}): Promise<string> {
  const { body } = await renderForm(() => h("form", { action: save as never }, fields), shown);
  return /<form[^>]*>(?:<div class="form-errors".*?<\/div>)?(.*)<\/form>/s.exec(body)?.[1] ?? body;
}

describe("an unknown option of form()", () => {
  const options: object = { doen: () => {} };

  it("is refused in a page, where `done` is one", () => {
    expect(() => form(save as never, options)).toThrow("Unknown option doen in form(). Valid options: key.");
    expect(() => form(save as never, { done: () => {} } as object)).toThrow("Unknown option done in form()");
  });

  it("is refused in a view that the server renders", () => {
    expect(() => viewForm(save as never, options)).toThrow("Unknown option doen in form(). Valid options: key, done.");
  });
});

describe("the options of a select", () => {
  const options = [
    ...[h("option", { value: "a" }, "A"), h("option", null, " B  b"), h("optgroup", null, h("option", null, 3))],
    ...[h("option", { value: "a", selected: false }, "other"), h("option", { value: 0 }, "zero")],
  ];
  /** Returns the texts of the options that the server has selected. */
  const selected = async (props: object) => {
    const html = await renderFields(h("select", props, options), { refused: false });
    return [...html.matchAll(/<option[^>]*selected[^>]*>([^<]*)/g)].map(([, text]) => text);
  };

  it.each([
    [{ value: "a" }, ["A"]],
    [{ defaultValue: "B b" }, [" B  b"]],
    [{ value: 3 }, ["3"]],
    [{ value: "" }, []], // not "0", which equals it in JavaScript
    [{ value: "a", defaultValue: "3" }, ["A"]],
    [{ value: undefined, defaultValue: "3" }, ["3"]],
    [{ multiple: true, defaultValue: ["a", 3] }, ["A", "3"]],
    [{ multiple: true, defaultValue: [] }, []],
    [{ defaultValue: null }, []],
  ])("are selected by %j as in the browser", async (props, texts) => {
    expect(await selected(props)).toEqual(texts);
    expect(await selected({ ...props, name: "name" })).toEqual(texts);
  });

  it("are those of the nearest select only", async () => {
    const html = await renderFields([h("select", { value: "a" }), h("option", null, "a")], { refused: false });
    expect(html).not.toContain("selected");
  });
});

describe("the fields of a form that was refused", () => {
  it.each(["text", "email", "number", "date", "search", "url", "tel", "range", "color", "TEXT"])(
    "of the type %s have what was typed in place of their own value",
    async (type) => {
      const field = h("input", { name: "name", type, value: "own" });
      expect(await renderFields(field, { typed: { name: ["typed"] } })).toContain('value="typed"');
      const byDefault = h("input", { name: "name", type, defaultValue: "own" });
      expect(await renderFields(byDefault, { typed: { name: ["typed"] } })).not.toContain("own");
    },
  );

  it("keep their own value if they were not sent", async () => {
    expect(await renderFields(h("input", { name: "name", value: "own" }))).toBe('<input name="name" value="own"/>');
  });

  it("are empty again if they were sent empty", async () => {
    const field = h("input", { name: "name", value: "own" });
    expect(await renderFields(field, { typed: { name: [""] } })).toBe('<input name="name" value/>');
  });

  it.each(["password", "file", "hidden", "submit", "PASSWORD"])("of the type %s do not", async (type) => {
    const field = h("input", { name: "name", type, value: "own" });
    expect(await renderFields(field, { typed: { name: ["typed"] } })).not.toContain("typed");
  });

  it("are textareas too", async () => {
    const field = h("textarea", { name: "name" }, "own");
    expect(await renderFields(field, { typed: { name: ["a\n<b>"] } })).toBe(
      '<textarea name="name">a\n&lt;b></textarea>',
    );
    expect(await renderFields(field, { typed: { name: ["\na"] } })).toBe('<textarea name="name">\n\na</textarea>');
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["textarea", { name: "name", value: "own" }, "typed"],
    ["textarea", { value: "own", name: "name" }, "typed"],
    ["textarea", { defaultValue: "own", name: "name" }, "typed"],
    ["textarea", { children: "own", value: "own", name: "name" }, "typed"],
    ["textarea", { value: undefined, name: "name", defaultValue: "own", children: "own" }, "typed"],
    ["textarea", { name: "name", dangerouslySetInnerHTML: { __html: "own" } }, "typed"],
    ["input", { value: "own", name: "name", defaultValue: "own" }, "typed"],
    ["input", { defaultValue: "own", value: undefined, name: "name" }, "typed"],
    ["input", { defaultChecked: false, checked: false, type: "checkbox", value: "typed", name: "name" }, "checked"],
    ["input", { name: "name", type: "radio", value: "typed", checked: false, defaultChecked: false }, "checked"],
    ["select", { value: "own", name: "name", defaultValue: "own" }, "typed"],
    ["select", { name: "name", defaultValue: "own" }, "typed"],
  ])("have what was typed in <%s> with %j", async (type, props, shown) => {
    const own = h("option", { defaultSelected: true, value: "own" }, "own");
    const options = [own, h("option", { value: "typed" }, "typed")];
    const field = h(type, props, ...(type === "select" ? options : []));
    const html = await renderFields(field, { typed: { name: ["typed"] } });
    expect(html).toContain(shown);
    if (type === "select") expect(html).toMatch(/<option value="own">own<.*<option value="typed" selected>/);
    else expect(html).not.toContain("own");
  });

  it("are checked as they were sent", async () => {
    const fields = [
      h("input", { type: "checkbox", name: "terms", checked: true }),
      h("input", { type: "checkbox", name: "tags", value: "a" }),
      h("input", { type: "checkbox", name: "tags", value: "b", defaultChecked: true }),
      h("input", { type: "radio", name: "name", value: "1", checked: true }),
      h("input", { type: "radio", name: "name", value: "2" }),
    ];
    expect(await renderFields(fields, { typed: { tags: ["a"], name: ["2"] } })).toBe(
      '<input type="checkbox" name="terms"/>' +
        '<input type="checkbox" name="tags" value="a" checked/>' +
        '<input type="checkbox" name="tags" value="b"/>' +
        '<input type="radio" name="name" value="1"/>' +
        '<input type="radio" name="name" value="2" checked/>',
    );
    expect(await renderFields(fields[0], { typed: { terms: ["on"] } })).toContain("checked");
  });

  it("have the options that were selected", async () => {
    const options = (selected: string) => [
      h("option", { value: "a", selected: selected === "a" }, "A"),
      h("optgroup", null, h("option", null, " B ", " b")),
      h("option", { value: 3 }, "C"),
    ];
    expect(
      await renderFields(h("select", { name: "name", value: "a" }, options("a")), { typed: { name: ["B b"] } }),
    ).toBe(
      '<select name="name"><option value="a">A</option><optgroup><option selected> B  b</option></optgroup><option value="3">C</option></select>',
    );
    expect(
      await renderFields(h("select", { name: "tags", multiple: true }, options("")), { typed: { tags: ["a", "3"] } }),
    ).toMatch(/value="a" selected.*<option> B {2}b.*value="3" selected/);
  });

  it("of one name are filled in by their order", async () => {
    const fields = [1, 2, 3].map(() => h("input", { name: "tags" }));
    expect(await renderFields(fields, { typed: { tags: ["a", "b"] } })).toBe(
      '<input name="tags" value="a"/><input name="tags" value="b"/><input name="tags"/>',
    );
  });

  it("are marked and tied to their message if they are invalid, and the first has the focus", async () => {
    const fields = [
      h("input", { name: "name", autoFocus: true }),
      h("input", { name: "tags", "aria-describedby": "hint", autofocus: true }),
      h("select", { name: "terms" }),
      h("input", { type: "hidden", name: "terms" }),
    ];
    expect(await renderFields(fields, { errors: { tags: "Bad.", terms: "Bad." } })).toBe(
      '<input name="name"/>' +
        '<input name="tags" aria-describedby="hint save-tags-error" autofocus aria-invalid="true"/>' +
        '<select name="terms" aria-invalid="true" aria-describedby="save-terms-error"></select>' +
        '<input type="hidden" name="terms"/>',
    );
  });

  it("are found in components, and not behind the form", async () => {
    const Field = () => h("input", { name: "name" });
    const { body } = await renderForm(
      () => [h("form", { action: save as never }, h(Field, {})), h("input", { name: "name" })],
      { typed: { name: ["typed"] } },
    );
    expect(body).toMatch(/<input name="name" value="typed"\/><\/form><input name="name"\/>$/);
  });
});

describe("the form that was sent", () => {
  const two = (first: unknown, second: unknown) => () =>
    [first, second].map((action) => h("form", { action: action as never }, h("input", { name: "name" })));
  const typed = { name: ["typed"] };

  it("is that of its function", async () => {
    const { body } = await renderForm(two(save, publish), { typed });
    expect(body).toMatch(/__form=save".*value="typed".*__form=publish".*<input name="name"\/>/);
  });

  it("is that of its key", async () => {
    const { body } = await renderForm(() => two(form(save, { key: 1 }), form(save, { key: "2" }))(), {
      typed,
      key: "2",
    });
    expect(body).toBe(
      '<form action="/?__form=save" method="post" enctype="multipart/form-data"><input type="hidden" name="__key" value="1"/><input name="name"/></form>' +
        '<form action="/?__form=save" method="post" enctype="multipart/form-data"><input type="hidden" name="__key" value="2"/><input name="name" value="typed"/></form>',
    );
  });

  it("is that of the form if a button has sent it to another function", async () => {
    const markup = () =>
      h("form", { action: save as never }, [
        h("input", { name: "name" }),
        h("button", { formAction: publish as never }, "Publish"),
      ]);
    const { body } = await renderForm(markup, { typed, name: "publish", form: "save" });
    expect(body).toContain('value="typed"');
    expect(body).toContain(
      '<button formaction="/?__form=publish:save" formmethod="post" formenctype="multipart/form-data">Publish</button>',
    );
  });

  it("has the messages in its handle, and no summary", async () => {
    const markup = () => {
      const handle = form(save);
      return h("form", { action: handle as never }, [
        `${handle.error?.code} ${handle.errors.name} ${JSON.stringify(handle.values)} ${handle.result}`,
        h("input", { name: "name" }),
      ]);
    };
    const { body } = await renderForm(markup, {
      typed: { name: ["a", "b"], tags: ["c"], password: ["d"] },
      errors: { name: "Bad." },
    });
    expect(body).toContain('validation_error Bad. {"name":"b","tags":["c"]} undefined'.replaceAll('"', "&quot;"));
    expect(body).not.toContain("form-errors");
    expect(body).toMatch(/<input name="name" value="a" autofocus aria-invalid="true"\/>/);
    const { body: other } = await renderForm(markup, { refused: false });
    expect(other).toContain("undefined undefined {} undefined");
  });

  it("has a summary with the focus if no field is to blame", async () => {
    const { body } = await renderForm(two(save, publish));
    expect(body).toContain(
      '<div class="form-errors" role="alert" tabindex="-1" autofocus><p>Please check the marked fields.</p></div>',
    );
  });

  it("is in the page data if a view contains it, without passwords", async () => {
    const View = compiledView("View", () =>
      h("form", { action: save as never }, [
        h("input", { name: "name" }),
        h("input", { name: "again", type: "password" }),
      ]),
    );
    const { data, body } = await renderForm(() => h(View, {}), {
      typed: { name: ["typed"], tags: ["a"], password: ["p1"], again: ["p2"] },
      errors: { name: "Bad." },
    });
    expect(data.form).toEqual({
      name: "save",
      form: "save",
      key: "",
      values: { name: "typed", tags: ["a"] },
      error: {
        code: "validation_error",
        message: "Please check the marked fields.",
        details: { errors: { name: "Bad." } },
      },
      errors: { name: "Bad." },
      result: null,
    });
    expect(body).not.toMatch(/p1|p2/);
    expect((await renderForm(() => [h(View, {})], { refused: false })).data).not.toHaveProperty("form");
    const outside = await renderForm(() => [h(View, {}), h("form", { action: publish as never })], { name: "publish" });
    expect(outside.data).not.toHaveProperty("form");
  });

  it("is in the page data if a view has its handle", async () => {
    const View = compiledView("View", () => `${viewForm(save).pending} ${viewForm(save).error?.message}`);
    const { data, body } = await renderForm(() => h(View, {}));
    expect(body).toContain("false Please check the marked fields.");
    expect(data.form.error.message).toBe("Please check the marked fields.");
  });
});

describe("a form of a server function", () => {
  it("begins with the CSRF token of the page, then its key", async () => {
    const View = compiledView("View", () => null);
    const markup = () => [h("form", { action: form(save, { key: "k" }) as never }, "x"), h(View, {})];
    const { body, html } = await renderForm(markup, { csrf: true, refused: false });
    const token = /<meta name="csrf-token" content="([^"]+)">/.exec(html)?.[1];
    expect(token).toHaveLength(64);
    expect(body).toContain(
      `enctype="multipart/form-data"><input type="hidden" name="__csrf" value="${token}"/><input type="hidden" name="__key" value="k"/>x</form>`,
    );
  });

  it("replaces the method and the encoding that it has", async () => {
    const markup = () => h("form", { action: save as never, method: "get", encType: "text/plain", class: "a" });
    const { body } = await renderForm(markup, { refused: false });
    expect(body).toBe('<form action="/?__form=save" method="post" class="a" enctype="multipart/form-data"></form>');
  });

  it("leaves forms of an address as they are", async () => {
    const action = new URL("https://search.example/");
    const { body } = await renderForm(() => [h("form", { action: "/search" }), h("form", { action: action as never })]);
    expect(body).toBe('<form action="/search"></form><form action="https://search.example/"></form>');
  });

  it("can be rendered twice from the same markup", async () => {
    const shared = h("form", { action: save as never }, h("input", { name: "name" }));
    const first = await renderForm(() => shared, { typed: { name: ["typed"] } });
    expect(first.body).toContain("typed");
    expect((await renderForm(() => h("form", { action: save as never }), { refused: false })).body).not.toContain(
      "typed",
    );
  });

  it.each<[string, () => ComponentChildren, RegExp]>([
    [
      "another function",
      () => h("form", { action: function submit() {} as never }),
      /action of <form> is a function \(submit\)/,
    ],
    [
      "the result of bind()",
      () => h("form", { action: (save as () => unknown).bind(null) as never }),
      /is the result of bind\(\) \(bound save\).*<input type="hidden" name="id" value={id} \/>/,
    ],
    ["a stream", () => h("form", { action: watch as never }), /action of <form> is the stream watch/],
    [
      "another function for a button",
      () => h("form", { action: save as never }, h("button", { formAction: (() => 1) as never })),
      /formAction of <button> is a function/,
    ],
    ["a button outside a form", () => h("button", { formAction: save as never }), /formAction must be in a <form>/],
    [
      "a button in a form of an address",
      () => h("form", { action: "/x" }, h("input", { type: "submit", formAction: save as never })),
      /formAction must be in a <form>/,
    ],
  ])("fails with %s", async (_, markup, message) => {
    const { status, logged } = await renderForm(markup, { refused: false });
    expect(status).toBe(500);
    expect(logged.join()).toMatch(message);
  });

  it("takes a button outside that names its form", async () => {
    const markup = () => h("button", { form: "f", formAction: save as never });
    expect((await renderForm(markup, { refused: false })).body).toContain('formaction="/?__form=save"');
  });

  it("of a view without action keeps the method dialog", async () => {
    const View = compiledView("View", () => h("form", { onSubmit: () => undefined }));
    expect((await renderForm(() => h(View, {}), { refused: false })).body).toContain('<form method="dialog">');
  });
});
