import { describe, expect, test } from "vitest";
import { docCommentsOf, parseDocComment } from "./documentation.ts";

describe("the doc comment in front of a position", () => {
  test.each<[title: string, before: string, expected: string | undefined]>([
    ["is read", "/** Adds. */\n", "Adds"],
    ["is read across several lines", "const a = 1;\n/**\n * Adds\n * numbers.\n */\n", "Adds numbers"],
    ["is read in front of other comments", "/** Adds. */\n// biome-ignore lint: why  \n/* x */ ", "Adds"],
    [
      "may contain what looks like the start of a comment",
      "/** Reads src/** and /* files. */\n",
      "Reads src/** and /* files",
    ],
    ["is the last of several", "/** One. */\n/** Two. */\n", "Two"],
    ["is not that of the code before", "/** One. */\nconst a = 1;\n", undefined],
    ["is not in a string", 'const a = "/** One. */"\n', undefined],
    ["is not an ordinary comment", "/* One. */\n// Two.\n", undefined],
    ["may be missing", "", undefined],
  ])("%s", (_, before, expected) => {
    const code = `${before}export const add = 1;`;
    expect(docCommentsOf({ file: "/app/a.server.ts", code })(before.length)?.summary).toBe(expected);
  });
});

describe("a doc comment", () => {
  test("has a description, parameters, a result and a deprecation", () => {
    const comment = `*
     * Orders an item, e.g. tea. The order is final.
     *
     * See {@link cancel} and {@link cancel | how to cancel}.
     *
     * @param item - the item's
     *   number
     * @param {number} [quantity=1] how many
     * @param other
     * @returns {Promise<Order>} the order
     * @throws RPCError
     * @deprecated Use orderAll.
     `;
    expect(parseDocComment(comment)).toEqual({
      summary: "Orders an item, e.g. tea",
      description: "Orders an item, e.g. tea. The order is final.\n\nSee `cancel` and how to cancel.",
      params: new Map([
        ["item", "the item's\n  number"],
        ["quantity", "how many"],
      ]),
      returns: "the order",
      deprecated: "Use orderAll.",
    });
  });

  test("keeps tags in a code block as text", () => {
    expect(parseDocComment("* Reads.\n * ```ts\n * @decorator\n * ```\n * @deprecated ")).toMatchObject({
      description: "Reads.\n```ts\n@decorator\n```",
      deprecated: "",
    });
  });

  test.each([
    ["* One sentence ", "One sentence"],
    ["* Is it? Yes. ", "Is it?"],
    ["* Version 1.5 works. Next. ", "Version 1.5 works"],
    ["* First paragraph\n *\n * second. ", "First paragraph"],
    ["*", undefined],
    ["* @internal", undefined],
  ])("%j has the summary %j", (comment, summary) => {
    expect(parseDocComment(comment).summary).toBe(summary);
  });
});
