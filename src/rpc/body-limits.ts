import { adviseMaxBody, MAX_BODY_BYTES } from "../bodies/index.ts";
import type { RequestContext } from "../http/index.ts";
import type { FunctionDefinition } from "./server.ts";

/**
 * Returns the maximum size of a form or a call with files, in bytes.
 *
 * @param fallback the maximum of the application, if it has one
 */
export function maxFormBody({ options }: FunctionDefinition, fallback?: number): number {
  return options.max_body ?? fallback ?? MAX_BODY_BYTES;
}

/**
 * Returns the maximum size of a call's JSON, in bytes. It is held in memory: the maximum of a function that takes files is
 * meant for the files, and does not raise it.
 *
 * @param fallback the maximum of the application, if it has one
 */
export function maxCallBody(definition: FunctionDefinition, fallback?: number): number {
  const max = maxFormBody(definition, fallback);
  return takesFiles(definition) ? Math.min(max, MAX_BODY_BYTES) : max;
}

/**
 * Adds to the error for a body over the maximum of a function, in development, how to raise it. Other errors stay as they
 * are, and so do those about a body that the option does not raise: the JSON of a call with files, the texts of a form.
 *
 * @param kind whether the body is the JSON of a call or a form
 * @param fallback the maximum of the application, if it has one
 */
export function adviseOfMaxBody(
  error: unknown,
  context: RequestContext,
  definition: FunctionDefinition,
  { kind, fallback }: { readonly kind: "call" | "form"; readonly fallback: number | undefined },
): void {
  if (takesFiles(definition) !== (kind === "form")) return;
  adviseMaxBody(error, context, { name: definition.signature.name, maxBytes: maxFormBody(definition, fallback) });
}

function takesFiles({ signature }: FunctionDefinition): boolean {
  return signature.params.some(({ files }) => files);
}
