/**
 * Calls a function of a server, as a script does, and gives its result.
 *
 * @throws Error when it is not answered, or not with a result
 */
export async function callFunction<T>(address: string, name: string, args: object): Promise<T> {
  const response = await fetch(`${address}/__web/rpc/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ args }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${name}: ${response.status} ${text.slice(0, 200)}`);
  return JSON.parse(text).result;
}
