/**
 * An application with one streaming function, and what tests read of its responses.
 */
import { expect } from "vitest";
import type { App } from "../../src/app.ts";
import { compiledServer, createTestApp } from "./compiled-app.ts";

/** Returns an application with one streaming function, `stream`. */
export function streamingApp(fn: () => Generator<unknown> | AsyncGenerator<unknown>, options = {}): App {
  return createTestApp({ stream: compiledServer("stream", fn, { stream: true, options }) });
}

/** Returns the parsed lines of a streamed response. */
export async function linesOf(response: Response | Promise<Response>): Promise<unknown[]> {
  const text = await (await response).text();
  expect(text).toMatch(/\n$/);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Returns a reader of the response's body, whose chunks are lines. */
export function readerOf(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  if (!response.body) throw new Error("The response has no body.");
  return response.body.getReader();
}

/** Returns a promise and the function that resolves it. */
export function deferred(): [Promise<void>, () => void] {
  let resolvePromise = () => {};
  const created = new Promise<void>((resolve) => {
    resolvePromise = resolve;
  });
  return [created, resolvePromise];
}

/** Returns the text of a chunk. */
export const textOf = (chunk: { readonly value?: Uint8Array | undefined }) => new TextDecoder().decode(chunk.value);
