import { describe, expect, it } from "vitest";
import { App } from "../app.ts";
import { page } from "../pages/index.ts";
import { rejectUnknownOptions } from "./misspellings.ts";

const known = { title: true, lang: true } as const;

describe("options that are checked for unknown names", () => {
  it.each([{}, { title: "x" }, { lang: undefined, title: 1 }, Object.create(null)])(
    "are accepted if they are %j",
    (options) => {
      expect(() => rejectUnknownOptions(options, known, "page")).not.toThrow();
    },
  );

  it.each(["tittle", "toString", "constructor", "", "Title"])("are refused if they contain %j", (name) => {
    const check = () => rejectUnknownOptions({ title: "x", [name]: 1 }, known, "page");
    expect(check).toThrow(new TypeError(`Unknown option ${name} in page. Valid options: title, lang.`));
  });

  it.each([null, undefined, "title", 1, () => ({})])("are refused if they are not an object but %j", (options) => {
    expect(() => rejectUnknownOptions(options, known, "page")).toThrow(
      /^The options of page must be an object, for example \{\}\. Received: (null|undefined|string|number|function)\.$/,
    );
  });

  it("are checked by new App and page", () => {
    const source = { file: "src/a.server.tsx", line: 1 };
    const declare = (options: object) => () => Reflect.apply(page, null, ["/", options, () => null, source]);
    expect(declare({ title: "x" })).not.toThrow();
    expect(declare({ tittle: "x" })).toThrow('Unknown option tittle in page("/"). Valid options: title, lang, layout');
    expect(() => new App({ modules: [{ home: declare({})() }], strct: true } as never)).toThrow(
      "Unknown option strct in new App. Valid options: modules, title",
    );
    const layout = { type: "main" };
    expect(declare({ layout })).toThrow('page("/"): layout must be a function');
    expect(() => new App({ modules: [], layout } as never)).toThrow("new App: layout must be a function");
  });
});
