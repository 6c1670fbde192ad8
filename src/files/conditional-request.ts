/**
 * Content negotiation, conditional requests and ranges, as pure functions over header values.
 *
 * @see RFC 9110, sections 12.5.3, 13 and 14
 */

/** Identifies one version of a file's content. */
export interface Validators {
  readonly etag: string;
  /** In milliseconds, whole seconds. */
  readonly lastModifiedMs: number;
}

/** Returns whether the client's copy is current; the response is then 304. `If-None-Match` takes precedence. */
export function isNotModified(
  { ifNoneMatch, ifModifiedSince }: { ifNoneMatch: string | null; ifModifiedSince: string | null },
  { etag, lastModifiedMs }: Validators,
): boolean {
  if (ifNoneMatch !== null)
    return ifNoneMatch.trim() === "*" || ifNoneMatch.split(",").some((tag) => isSame(tag, etag));
  const since = Date.parse(ifModifiedSince ?? "");
  return !Number.isNaN(since) && lastModifiedMs <= since;
}

/** Compares weakly, as RFC 9110, section 13.1.2 requires. */
function isSame(tag: string, etag: string): boolean {
  return tag.trim().replace(/^W\//, "") === etag.replace(/^W\//, "");
}

/** A range of bytes; `end` is the last byte's position. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the part of a file that a `Range` header requests; `null` when the whole file is to be sent: without the
 * header, for another unit, for several ranges, for a malformed one, and when `If-Range` names another version.
 */
export function requestedRange(
  { range, ifRange }: { range: string | null; ifRange: string | null },
  { size, lastModifiedMs }: { size: number; lastModifiedMs: number },
): ByteRange | "unsatisfiable" | null {
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(range ?? "") ?? [];
  if (first === "" && last === "") return null;
  // The entity tags are weak, and only a strong one can match here. @see RFC 9110, section 13.1.5
  if (ifRange !== null && ifRange.trim() !== new Date(lastModifiedMs).toUTCString()) return null;
  if (first === "") return suffixRange(Number(last), size);
  const start = Number(first);
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== "" && Number(last) < start) return null;
  return start >= size ? "unsatisfiable" : { start, end };
}

function suffixRange(length: number, size: number): ByteRange | "unsatisfiable" {
  if (length === 0 || size === 0) return "unsatisfiable";
  return { start: Math.max(0, size - length), end: size - 1 };
}

/**
 * Returns those of `codings` that a client accepts: those that it prefers first, and otherwise in the order of `codings`.
 *
 * @see RFC 9110, section 12.5.3
 */
export function acceptedCodings<C extends string>(acceptEncoding: string | null, codings: readonly C[]): C[] {
  const weights = new Map<string, number>();
  for (const item of (acceptEncoding ?? "").split(",")) {
    const [coding = "", ...parameters] = item.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => /^q=/i.test(parameter));
    if (coding !== "") weights.set(coding.toLowerCase(), weight ? Number.parseFloat(weight.slice(2)) || 0 : 1);
  }
  const weightOf = (coding: C) => weights.get(coding) ?? weights.get("*") ?? 0;
  return codings.filter((coding) => weightOf(coding) > 0).sort((one, other) => weightOf(other) - weightOf(one));
}
