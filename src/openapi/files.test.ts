import { expect, it } from "vitest";
import { compiledServer } from "#test/compiled-app";
import { at, documentOf } from "#test/openapi-document";

it("describes a function that takes files as a form at the form address", () => {
  const publish = compiledServer("publish", (_title: string, _photo: File, _more?: File[]) => null, {
    params: {
      title: { type: "any" },
      photo: { type: "any", files: "one" },
      more: { type: "any", files: "many", optional: true },
    },
  });
  const document = documentOf({ publish });
  expect(Object.keys(document.paths)).toEqual(["/__web/form/publish"]);
  const file = { type: "string", format: "binary" };
  expect(at(document, "paths", "/__web/form/publish", "post", "requestBody")).toEqual({
    required: true,
    content: {
      "multipart/form-data": {
        encoding: { __args: { contentType: "application/json" } },
        schema: {
          type: "object",
          properties: {
            __args: {
              type: "object",
              properties: { title: { description: "`any`" } },
              required: ["title"],
              additionalProperties: false,
            },
            photo: file,
            more: { type: "array", items: file },
          },
          required: ["__args", "photo"],
        },
      },
    },
  });
});
