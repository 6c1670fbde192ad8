import { describe, expect, it } from "vitest";
import { ARGUMENTS_FIELD, isBlob, toFormData } from "./form.ts";

describe("isBlob", () => {
  it.each([
    ["a Blob", new Blob(["x"])],
    ["a File", new File(["x"], "x.txt")],
    ["a part of a file", new File(["x"], "x.txt").slice(0, 1)],
  ])("accepts %s", (_, value) => {
    expect(isBlob(value)).toBe(true);
  });

  it.each([
    ["a Response", new Response("x")],
    ["an ArrayBuffer", new ArrayBuffer(1)],
    ["JSON with the members of a file", { name: "x", size: 1, type: "text/plain", slice: "x", arrayBuffer: "x" }],
    ["a string", "x"],
    ["null", null],
  ])("refuses %s", (_, value) => {
    expect(isBlob(value)).toBe(false);
  });
});

describe("the body of a call with files", () => {
  const file = new File(["a"], "a.txt", { type: "text/plain" });
  const blob = new Blob(["b"]);

  it("has the other arguments first, as JSON, then the files by parameter", () => {
    const form = toFormData({ photos: [file, file], title: "x", cover: blob, tags: ["a"], none: null });
    expect([...(form?.keys() ?? [])]).toEqual([ARGUMENTS_FIELD, "photos", "photos", "cover"]);
    expect(form?.get(ARGUMENTS_FIELD)).toBe('{"title":"x","tags":["a"],"none":null}');
    expect(form?.getAll("photos")).toEqual([file, file]);
  });

  it("omits arguments that are undefined", () => {
    expect(toFormData({ a: undefined, f: file })?.get(ARGUMENTS_FIELD)).toBe("{}");
  });

  it.each([[{}], [{ a: 1 }], [{ files: [] }], [{ a: { b: [1] } }], [{ a: null }]])("is not needed for %j", (args) => {
    expect(toFormData(args)).toBeNull();
  });
});
