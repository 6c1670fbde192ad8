import { expect, it } from "vitest";
import { readRemoteSignature } from "./connection.ts";

it.each([
  [{ parameters: ["a", "b"] }, { stream: false, params: ["a", "b"] }],
  [{ parameters: [] }, { stream: false, params: [] }],
  [{ parameters: ["a"], keyed: true }, { stream: false }],
  [
    { parameters: ["a"], stream: true },
    { stream: true, params: ["a"] },
  ],
  [{ parameters: ["a"], keyed: true, stream: true }, { stream: true }],
  [{}, null],
  [{ parameters: "a" }, null],
  [{ parameters: [1] }, null],
])("readRemoteSignature reads %j", (details, shape) => {
  expect(readRemoteSignature(details)).toEqual(shape);
});
