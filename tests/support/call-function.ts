/**
 * Calls a server function over HTTP, as a script does, and returns its result.
 *
 * @throws Error if there is no response, or another status than 200
 */
export async function callFunction<T>(origin: string, name: string, args: object): Promise<T> {
  const response = await fetch(`${origin}/__web/rpc/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ args }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${name}: ${response.status} ${text.slice(0, 200)}`);
  return JSON.parse(text).result;
}
