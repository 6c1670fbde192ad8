/**
 * The server's version of `subscribe`. It is called only if a view subscribes while it renders, because `on_mount` does
 * not run on the server.
 *
 * @throws Error always
 */
export function subscribe(): never {
  throw new Error("subscribe() was called on the server. Call it inside on_mount(), which runs in the browser only.");
}
