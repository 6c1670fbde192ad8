/** Types as the compiler shows them to applications: the interfaces `Claims` and `Channels`, and errors. */
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { compileFixtures, type FixtureCase, PUBLISHED, SOURCE } from "./compile-fixture.ts";

/** The published declarations, by entry point. */
const published = {
  tsweb: join(PUBLISHED, "index.d.ts"),
  "tsweb/browser": join(PUBLISHED, "browser/index.d.ts"),
  "tsweb/testing": join(PUBLISHED, "testing/index.d.ts"),
};

const source = { tsweb: join(SOURCE, "session/index.ts") };

const runtime = { "tsweb/jsx-runtime": join(PUBLISHED, "jsx-runtime.d.ts") };

const CASES = {
  claims: { fixture: "claims.ts", paths: source },
  "claims-open": { fixture: "claims-open.ts", paths: source },
  "published-claims": { fixture: "claims.ts", paths: published },
  "published-claims-open": { fixture: "claims-open.ts", paths: published },
  links: {
    fixture: "links.tsx",
    paths: { ...published, ...runtime },
    options: { jsx: "react-jsx", jsxImportSource: "tsweb" }, // as in the projects of tsweb new
  },
  channels: { fixture: "channels.ts", paths: published },
  "channels-open": { fixture: "channels-open.ts", paths: published },
  "channels-twice": { fixture: "channels-twice.ts", paths: published },
  dates: { fixture: "dates.ts", paths: published },
  unsendable: { fixture: "unsendable.ts", paths: published },
} satisfies Record<string, FixtureCase>;

let errors: Record<keyof typeof CASES, string>;
beforeAll(async () => {
  errors = await compileFixtures(CASES);
});

describe("the types of a session", () => {
  it("are the claims that the application has declared", () => {
    expect(errors.claims).toBe("");
  });

  it("are any JSON values if the application has declared no claims", () => {
    expect(errors["claims-open"]).toBe("");
  });

  it("are the same in the published declarations", () => {
    expect(errors["published-claims"]).toBe("");
    expect(errors["published-claims-open"]).toBe("");
  });
});

describe("the types of links", () => {
  it("are those of the parameters of the path, in pages and views that link to themselves and to each other", () => {
    expect(errors.links).toBe("");
  });
});

describe("the types of channels", () => {
  it("are those that the application and its packages have declared, on the server, in the browser and in tests", () => {
    expect(errors.channels).toBe("");
  });

  it("are open if nothing is declared", () => {
    expect(errors["channels-open"]).toBe("");
  });

  it("are an error if two declarations have the same name", () => {
    expect(errors["channels-twice"]).toMatch(/channels-twice\.ts\(\d+,5\): error TS2374: Duplicate index signature/);
  });
});

describe("a Date among the props of a view or the parameters of a server function", () => {
  it("is a type error that states what to declare and what to pass", () => {
    const sentence =
      "Type 'NotSendable<\"A Date arrives as a string. Declare a string, and pass date.toISOString().\">' is missing";
    expect(errors.dates.match(/^\S*dates\.ts\(\d+/gm)).toHaveLength(3);
    expect(errors.dates.split(sentence)).toHaveLength(4);
  });
});

describe("a parameter or a result that cannot be sent", () => {
  it("is a type error with a sentence about it and the fix", () => {
    const sentences = [...errors.unsendable.matchAll(/^\S*unsendable\.ts\((\d+)[\s\S]*?NotSendable<"(.*?)">/gm)];
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
