/** Gives all values of a stream; `into` has those that came before an error. */
export async function collect<T>(stream: AsyncIterable<T>, into: T[] = []): Promise<T[]> {
  for await (const value of stream) into.push(value);
  return into;
}
