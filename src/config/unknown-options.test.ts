import { describe, expect, it } from "vitest";
import { App } from "../app.ts";
import { page } from "../pages/index.ts";
import { rejectUnknownOptions } from "./unknown-options.ts";

const known = { title: true, lang: true } as const;

describe("options", () => {
  it.each([{}, { title: "x" }, { lang: undefined, title: 1 }, Object.create(null)])("may be %j", (options) => {
    expect(() => rejectUnknownOptions(options, known, "page")).not.toThrow();
  });

  it.each(["tittle", "toString", "constructor", "", "Title"])("are refused with %j among them", (name) => {
    const refused = () => rejectUnknownOptions({ title: "x", [name]: 1 }, known, "page");
    expect(refused).toThrow(new TypeError(`page: ${name} is no option; there are title, lang.`));
  });

  it.each([null, undefined, "title", 1, () => ({})])("are an object, and not %j", (options) => {
    expect(() => rejectUnknownOptions(options, known, "page")).toThrow(
      new TypeError("page: the options are an object."),
    );
  });

  it("that are misspelt are refused by applications and pages", () => {
    const source = { file: "src/a.server.tsx", line: 1 };
    const declare = (options: object) => () => Reflect.apply(page, null, ["/", options, () => null, source]);
    expect(declare({ title: "x" })).not.toThrow();
    expect(declare({ tittle: "x" })).toThrow('page("/"): tittle is no option; there are title, lang, layout');
    expect(() => new App({ modules: [{ home: declare({})() }], strct: true } as never)).toThrow(
      "new App: strct is no option; there are modules, title",
    );
  });
});
