/** Types as the compiler shows them to applications: the interfaces `Claims` and `Channels`, and errors. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FixtureCompiler } from "./compile-fixture.ts";

let compiler: FixtureCompiler;
/** The published declarations, by entry point. */
let published: Record<string, string>;

/** As in the projects of `tsweb new`. */
const JSX = { jsx: "react-jsx", jsxImportSource: "tsweb" };

beforeAll(async () => {
  compiler = await FixtureCompiler.create();
  published = {
    tsweb: join(compiler.published, "index.d.ts"),
    "tsweb/browser": join(compiler.published, "browser/index.d.ts"),
    "tsweb/testing": join(compiler.published, "testing/index.d.ts"),
  };
});
afterAll(() => compiler.remove());

describe("the types of a session", () => {
  it("are the claims that the application has declared", async () => {
    const tsweb = join(compiler.source, "session/index.ts");
    expect(await compiler.errorsOf("claims.ts", { tsweb })).toBe("");
  });

  it("are any JSON values if the application has declared no claims", async () => {
    const tsweb = join(compiler.source, "session/index.ts");
    expect(await compiler.errorsOf("claims-open.ts", { tsweb })).toBe("");
  });

  it("are the same in the published declarations", async () => {
    expect(await compiler.errorsOf("claims.ts", published)).toBe("");
    expect(await compiler.errorsOf("claims-open.ts", published)).toBe("");
  });
});

describe("the types of links", () => {
  it("are those of the parameters of the path, in pages and views that link to themselves and to each other", async () => {
    const runtime = { "tsweb/jsx-runtime": join(compiler.published, "jsx-runtime.d.ts") };
    expect(await compiler.errorsOf("links.tsx", { ...published, ...runtime }, JSX)).toBe("");
  });
});

describe("the types of channels", () => {
  it("are those that the application and its packages have declared, on the server, in the browser and in tests", async () => {
    expect(await compiler.errorsOf("channels.ts", published)).toBe("");
  });

  it("are open if nothing is declared", async () => {
    expect(await compiler.errorsOf("channels-open.ts", published)).toBe("");
  });

  it("are an error if two declarations have the same name", async () => {
    const errors = await compiler.errorsOf("channels-twice.ts", published);
    expect(errors).toMatch(/channels-twice\.ts\(\d+,5\): error TS2374: Duplicate index signature/);
  });
});

describe("a Date among the props of a view or the parameters of a server function", () => {
  it("is a type error that states what to declare and what to pass", async () => {
    const errors = await compiler.errorsOf("dates.ts", published);
    const sentence =
      "Type 'NotSendable<\"A Date arrives as a string. Declare a string, and pass date.toISOString().\">' is missing";
    expect(errors.match(/^\S*dates\.ts\(\d+/gm)).toHaveLength(3);
    expect(errors.split(sentence)).toHaveLength(4);
  });
});

describe("a parameter or a result that cannot be sent", () => {
  it("is a type error with a sentence about it and the fix", async () => {
    const errors = await compiler.errorsOf("unsendable.ts", published);
    const sentences = [...errors.matchAll(/^\S*unsendable\.ts\((\d+)[\s\S]*?NotSendable<"(.*?)">/gm)];
    expect(sentences.map(([, line, sentence]) => [Number(line), sentence])).toEqual([
      [4, "A File or Blob cannot be inside another value. Declare it as a parameter of its own."],
      [5, "A File or Blob cannot be inside another value. Declare it as a parameter of its own."],
      [
        6,
        "A FormData cannot be sent. Declare its fields as parameters, and use the function as the action of the form.",
      ],
      [7, "A promise cannot be sent. Declare its value, and await it before the call."],
      [8, "A Response cannot be a result. Use route(), or return the data."],
      [9, "A File, Blob or FormData cannot be a result. Use route() and send_file()."],
    ]);
  });
});
