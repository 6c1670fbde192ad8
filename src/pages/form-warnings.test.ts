import { type ComponentChildren, h } from "preact";
import { describe, expect, it } from "vitest";
import { compiledServer } from "#test/compiled-app";
import { type FormResponse, renderForm } from "#test/render-form";
import { pageSettings } from "#test/render-page";
import { form } from "../forms/index.ts";

const STRING = { type: "any", shape: { kinds: ["string"] } } as const;
const LIST = { type: "any", shape: { list: { of: { kinds: ["string"] } } } } as const;

const save = compiledServer("save", () => 1, { params: { name: STRING, tags: LIST, terms: "boolean" } });

describe("a form in development", () => {
  const settings = { development: true };
  const warnings = async (markup: () => ComponentChildren) =>
    (await renderForm(markup, { settings, refused: false })).logged.map((line) => line.replace(/ undefined$/, ""));

  it("a field that is no parameter is logged", async () => {
    const fields = ["name", "tags", "terms", "admin", "name.first", "__csrf"].map((name) => h("input", { name }));
    expect(await warnings(() => h("form", { action: save as never }, fields))).toEqual([
      'The form of save in the page has a field "admin" that is no parameter, so it is ignored. Parameters: name, tags, terms.',
    ]);
  });

  it("a required parameter without a field is logged, a checkbox and a list are not", async () => {
    expect(await warnings(() => h("form", { action: save as never }))).toEqual([
      "The form of save in the page has no field for the required parameter name, so that every submission is refused.",
    ]);
    for (const tag of ["select", "textarea", "button", "x-field"]) {
      expect(await warnings(() => h("form", { action: save as never }, h(tag, { name: "name" })))).toEqual([]);
    }
  });

  it("a required parameter without a field is logged with the field that has no name", async () => {
    const missing = "has no field for the required parameter name, so that every submission is refused.";
    const withField = (field: ComponentChildren) => warnings(() => h("form", { action: save as never }, field));
    const __source = { fileName: `${process.cwd()}/src/a.tsx`, lineNumber: 3, columnNumber: 5 };
    expect(await withField(Object.assign(h("input", { id: "name" }), { __source }))).toEqual([
      `The form of save in the page ${missing} An <input> (src/a.tsx:3:5) has no name, so it is not sent. Is it name="name"?`,
    ]);
    expect((await withField(h("select", null))).join()).toContain("A <select> has no name");
    for (const type of ["submit", "button", "reset"]) {
      expect(await withField(h("input", { type }))).toEqual([`The form of save in the page ${missing}`]);
    }
    expect(await withField(h("input", { form: "other" }))).toEqual([`The form of save in the page ${missing}`]);
  });

  describe("a radio button or an option", () => {
    const COLOR = { type: "any", annotation: '"red" | "blue"', shape: { literals: ["red", "blue"] } } as const;
    const paint = compiledServer("paint", () => 1, {
      params: { color: COLOR, count: { type: "int", annotation: "int" }, tags: { ...LIST, optional: true } },
    });
    const paintForm = (...children: ComponentChildren[]) =>
      warnings(() => h("form", { action: paint as never }, children, h("input", { name: "count" })));
    const radio = (props: object) => h("input", { name: "color", type: "radio", ...props });
    const select = (...options: ComponentChildren[]) => h("select", { name: "color" }, options);
    const declared = 'which is always refused, for the parameter color, which is declared as "red" | "blue".';

    it("without a value that the function accepts is logged", async () => {
      expect(await paintForm(radio({}), radio({}))).toEqual([
        `The form of paint in the page has a radio button "color" that sends "on", ${declared} Give it a value: <input type="radio" value="…" />.`,
      ]);
      expect(await paintForm(select(h("option", null, " Red "), h("option", { value: "blue" }, "Blue")))).toEqual([
        `The form of paint in the page has an option of <select name="color"> that sends "Red", ${declared} Give it a value: <option value="…">Red</option>.`,
      ]);
      expect(await paintForm(radio({ value: "rot" }), radio({ value: "blue" }))).toEqual([
        `The form of paint in the page has a radio button "color" that sends "rot", ${declared} Correct its value.`,
      ]);
      const counts = h("select", { name: "count" }, h("option", { value: 1 }), h("option", null, "many"));
      expect((await paintForm(radio({ value: "red" }), counts)).join()).toContain(
        'sends "many", which is always refused',
      );
    });

    it("is not logged if it is accepted, empty or never sent, or if its value is not known", async () => {
      expect(await paintForm(radio({ value: "red" }), radio({ value: "blue" }))).toEqual([]);
      const placeholders = [h("option", { value: "" }, "Choose"), h("option", { disabled: true }, "—")];
      expect(await paintForm(select(...placeholders, h("option", null, "red")))).toEqual([]);
      const tags = h("select", { name: "tags", multiple: true }, h("option", null, "Any text"));
      expect(await paintForm(select(h("option", null, "blue")), tags)).toEqual([]);
      expect(await paintForm(select(h("option", null, "blue")), h("option", null, "outside of it"))).toEqual([]);
      expect(await paintForm(h("x-colors", { name: "color" }))).toEqual([]);
    });

    it("is not logged if a schema checks the parameter, which may accept any text", async () => {
      const schema = {
        "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) },
      } as const;
      const checked = compiledServer("checked", () => 1, {
        params: { color: COLOR },
        options: { validate: { color: schema } },
      });
      expect(await warnings(() => h("form", { action: checked as never }, radio({})))).toEqual([]);
    });
  });

  it("two forms with one key are logged", async () => {
    const twice = (key: string) => () =>
      ["a", key].map((own) => h("form", { action: form(save, { key: own }) as never }, h("input", { name: "name" })));
    expect(await warnings(twice("b"))).toEqual([]);
    expect(await warnings(twice("a"))).toEqual([
      "The form of save in the page occurs twice with the same key, so that an error is shown in both. Give each a key: form(save, { key: item.id }).",
    ]);
  });

  it("a text for a file, and a file for a text, are logged", async () => {
    const upload = compiledServer("upload", () => 1, {
      params: {
        photo: { type: "any", files: "one" },
        more: { type: "any", files: "many" },
        caption: STRING,
      },
    });
    const formOf = (photo: string, more: string, caption: string) =>
      h("form", { action: upload as never }, [
        h("input", { name: "photo", type: photo }),
        h("input", { name: "more", type: more }),
        h("input", { name: "more", type: "hidden" }),
        h("input", { name: "caption", type: caption }),
      ]);
    expect(await warnings(() => formOf("file", "FILE", "text"))).toEqual([]);
    const problems = await warnings(() => formOf("text", "text", "file"));
    expect(problems).toHaveLength(3);
    expect(problems[0]).toMatch(
      /has a text in the field "photo", but the parameter is .* Use <input type="file" name="photo" \/>\.$/,
    );
    expect(problems[2]).toMatch(
      /has a file in the field "caption", but the parameter is .* Declare it as caption: File, or File\[\]\.$/,
    );
    const own = () =>
      h(
        "form",
        { action: upload as never },
        ["photo", "caption"].map((name) => h("x-field", { name })),
      );
    expect(await warnings(own)).toEqual([]);
  });

  it("a warning has the location of the form, and is logged once per page", async () => {
    const __source = { fileName: `${process.cwd()}/src/a.tsx`, lineNumber: 3, columnNumber: 5 };
    const markup = () => Object.assign(h("form", { action: save as never }), { __source });
    const shared = pageSettings({ development: true });
    for (const _ of [1, 2, 3]) await renderForm(markup, { settings: shared.settings, refused: false });
    expect(shared.logged).toEqual([
      "The form of save (src/a.tsx:3:5) has no field for the required parameter name, so that every submission is refused. undefined",
    ]);
  });

  it.each([
    [{ method: "get" }, /form of save has method="get", which would be ignored/],
    [{ method: "dialog" }, /has method="dialog"/],
    [{ encType: "text/plain" }, /has encType="text\/plain"/],
    [{ enctype: "text/plain" }, /has enctype="text\/plain"/],
  ])("a request that a function does not receive is an error: %o", async (attributes, message) => {
    const fields = h("input", { name: "name" });
    const { status, logged } = await renderForm(() => h("form", { action: save as never, ...attributes }, fields), {
      settings,
      refused: false,
    });
    expect(status).toBe(500);
    expect(logged.join()).toMatch(message);
  });

  it.each([{ method: "POST" }, { method: undefined }, { encType: "application/x-www-form-urlencoded" }])(
    "an attribute that changes nothing is no error: %o",
    async (attributes) => {
      expect(
        await warnings(() => h("form", { action: save as never, ...attributes }, h("input", { name: "name" }))),
      ).toEqual([]);
    },
  );

  it("nothing of this is logged in production", async () => {
    const { logged } = await renderForm(() => h("form", { action: save as never }, h("input", { name: "x" })), {
      refused: false,
    });
    expect(logged).toEqual([]);
  });

  it.each<[string, FormResponse, boolean]>([
    ["of the application", { settings: { development: true, headers: { "Referrer-Policy": "no-referrer" } } }, true],
    ["of the page", { settings, options: { headers: { "referrer-policy": "strict-origin, No-Referrer" } } }, true],
    [
      "of the application that the page changes",
      {
        settings: { development: true, headers: { "referrer-policy": "no-referrer" } },
        options: { headers: { "referrer-policy": "same-origin" } },
      },
      false,
    ],
    ["in production", { settings: { headers: { "referrer-policy": "no-referrer" } } }, false],
    ["that is removed", { settings: { development: true, headers: { "referrer-policy": null } } }, false],
  ])("a form fails with Referrer-Policy: no-referrer %s", async (_, shown, fails) => {
    const markup = () => h("form", { action: save as never }, h("input", { name: "name" }));
    const { status, logged } = await renderForm(markup, { refused: false, ...shown });
    expect(status).toBe(fails ? 500 : 200);
    if (fails) expect(logged.join()).toMatch(/Set the header to "same-origin"/);
  });
});
