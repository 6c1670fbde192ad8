import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isReadableStream, isResponse } from "./handler-response.ts";

/** A class whose objects have the members of a `Response`, and not its prototype. */
class OtherResponse {
  readonly status = 200;
  arrayBuffer() {
    return Promise.resolve(new ArrayBuffer(0));
  }
}

describe("isResponse", () => {
  it.each([
    ["a Response", new Response("x")],
    ["a response of fetch", Response.error()],
    ["a response of another implementation", new OtherResponse()],
  ])("accepts %s", (_, value) => {
    expect(isResponse(value)).toBe(true);
  });

  it.each([
    ["a Request", new Request("http://shop.example/")],
    ["a Blob", new Blob(["x"])],
    ["a response of tsweb's own handlers", { status: 200, headers: {}, body: "x" }],
    ["an object whose arrayBuffer is data", { status: 200, arrayBuffer: "x" }],
    ["a string", "x"],
    ["null", null],
    ["undefined", undefined],
    ["a function", () => new Response()],
  ])("refuses %s", (_, value) => {
    expect(isResponse(value)).toBe(false);
  });

  it("reads neither the status nor the body of a response, whose getters may create both", () => {
    const lazy = {
      arrayBuffer: () => undefined,
      get status() {
        throw new Error("read");
      },
    };
    expect(isResponse(lazy)).toBe(true);
  });
});

describe("isReadableStream", () => {
  it("accepts streams of any implementation, and nothing else", () => {
    expect(isReadableStream(new ReadableStream())).toBe(true);
    expect(isReadableStream({ getReader: () => undefined })).toBe(true);
    for (const value of [new Uint8Array(1), "x", null, undefined, { getReader: 1 }, new Response().body]) {
      expect(isReadableStream(value)).toBe(false);
    }
  });
});

it("no code tests with instanceof for a class of the web platform, because hosts replace these classes", () => {
  const classes = "Request|Response|Headers|URL|URLSearchParams|ReadableStream|Blob|File|FormData|AbortSignal|Event";
  const src = fileURLToPath(new URL("..", import.meta.url));
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => /(?<!\.test)\.ts$/.test(file));
  const hits = files.filter((file) =>
    new RegExp(`instanceof (${classes})\\b`).test(readFileSync(join(src, file), "utf8")),
  );
  expect(files.length).toBeGreaterThan(200);
  expect(hits).toEqual([]);
});
