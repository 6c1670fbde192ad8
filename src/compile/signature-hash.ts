import { createHash } from "node:crypto";
import type { Parameter, Signature, TypeShape } from "../protocol/index.ts";

/** The annotated type of a result, and the recursive types that it refers to. */
interface ResultType {
  readonly shape: TypeShape;
  readonly shapes: readonly TypeShape[];
}

/**
 * Returns a short hash of what a caller depends on: names, order, resolved types and optionality of the parameters, whether
 * the result is streamed, and the annotated type of the result. The names of types, defaults and comments do not count.
 *
 * The types are those that strict applications check. Of any other type, only its text counts.
 *
 * @param result the type of the result; `undefined` if it is not annotated
 * @returns six characters of base64url: two signatures have the same hash with a probability of 2^-36
 * @see docs/protocol.md 3.9
 */
export function signatureHash({ stream, keyed, params, shapes }: Signature, result: ResultType | undefined): string {
  const text = JSON.stringify(
    [stream, keyed, params.map(parameterFacts), shapes, result?.shape, result?.shapes],
    // Members of object types are pairs, so this is always the name of a type.
    (key, value) => (key === "name" ? undefined : value),
  );
  return createHash("sha256").update(text).digest("base64url").slice(0, 6);
}

function parameterFacts({ name, annotation, ...facts }: Parameter): readonly unknown[] {
  const isResolved = facts.shape !== undefined || facts.files !== undefined || facts.type !== "any";
  return [name, facts, isResolved ? "" : annotation];
}
