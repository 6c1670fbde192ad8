/** Returns all values of a stream. If the stream throws, `into` has the values before the error. */
export async function collect<T>(stream: AsyncIterable<T>, into: T[] = []): Promise<T[]> {
  for await (const value of stream) into.push(value);
  return into;
}
