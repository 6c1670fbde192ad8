import { MAX_BODY_BYTES } from "../http/index.ts";
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
  const takesFiles = definition.signature.params.some(({ files }) => files);
  return takesFiles ? Math.min(max, MAX_BODY_BYTES) : max;
}
