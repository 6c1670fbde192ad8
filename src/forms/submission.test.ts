import { expect, it } from "vitest";
import { RPCError } from "../errors.ts";
import { refusedSubmission } from "./submission.ts";

it("a refused form shows at most 64 KiB of what was typed again: the first fields that fit", () => {
  const fields = new Map([
    ["name", ["Ada"]],
    ["long", ['"'.repeat(2 ** 20)]],
    ["note", ["x".repeat(60_000)]],
    ["other", ["y".repeat(10_000)]],
    ["city", ["London"]],
  ]);
  const init = { name: "save", form: "save", key: "", fields, lists: new Set<string>() };
  const { texts, values } = refusedSubmission(init, new RPCError("validation_error", "No."));
  expect([...texts.keys()]).toEqual(["name", "note", "city"]);
  expect(Object.keys(values)).toEqual(["name", "note", "city"]);
});
