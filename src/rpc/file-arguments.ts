import { isBlob, type Parameter } from "../protocol/index.ts";
import { MISMATCH } from "./coerce.ts";

/** Returns the type of a parameter that takes files, as errors name it. */
export function describeFiles({ files, nullable }: Parameter): string {
  return `${files === "many" ? "array of files" : "file"}${nullable ? " or null" : ""}`;
}

/**
 * Returns the value of a parameter that takes files, or {@link MISMATCH}. Nothing but an uploaded file is accepted, in
 * every application: the function must not mistake an object of the caller for a file.
 */
export function bindFiles({ files, nullable }: Parameter, value: unknown): unknown {
  if (value === null) return nullable ? null : MISMATCH;
  if (files === "one") return isBlob(value) ? value : MISMATCH;
  return Array.isArray(value) && value.every(isBlob) ? value : MISMATCH;
}

/** Returns how to pass a file, for a text that was passed in its place: its name, or the value of a file field. */
export function fileAdvice({ files }: Parameter, received: unknown): string {
  if (typeof received !== "string") return "";
  return `, got a text: pass ${files === "many" ? "[...input.files]" : "input.files[0]"} of the file field`;
}
