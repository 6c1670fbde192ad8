/**
 * Reads a body line by line. Used by the browser and the client for streams, and by the browser and `tsweb/testing` for
 * event streams.
 */

/**
 * Yields the lines of a body without their `\n`, empty lines included. Text after the last `\n` is a line if it is not
 * empty. Chunks may split characters and lines anywhere.
 *
 * Lines that arrive together are yielded together, so that the reader can process them in one batch. Leaving the loop
 * does not close the body: abort the request with its `AbortController`.
 *
 * @throws the error of reading the body
 */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly string[], void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let partialLine = "";
  for (;;) {
    const { done, value } = await reader.read();
    const lines = decoder.decode(value, { stream: !done }).split("\n");
    lines[0] = partialLine + lines[0];
    partialLine = lines.pop() as string; // split() returns at least one item
    yield lines;
    if (done) break;
  }
  if (partialLine) yield [partialLine];
}
