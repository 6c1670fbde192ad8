/**
 * Reads a body line by line, as it arrives: characters and lines may be cut anywhere, and several
 * lines may come at once. Those that arrived together are given together, so that whoever acts on
 * them may do so in one go. Lines come without their `\n`, empty ones included; what follows the last
 * `\n` is a line when it is not empty.
 *
 * Leaving the loop leaves the body open: whoever opened it closes it, with its `AbortController`.
 *
 * @throws whatever reading the body fails with
 */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly string[], void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    const lines = decoder.decode(value, { stream: !done }).split("\n");
    lines[0] = rest + lines[0];
    rest = lines.pop() as string; // a text has one line at least
    yield lines;
    if (done) break;
  }
  if (rest) yield [rest];
}
