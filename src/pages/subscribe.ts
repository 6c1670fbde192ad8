/**
 * The server's twin of the browser's `subscribe`: it is the browser that listens. Where it is used
 * as it should be, nothing here is called: `on_mount` does not run on the server.
 *
 * @throws Error always, so that the mistake is seen with the first rendering
 */
export function subscribe(): never {
  throw new Error("subscribe() belongs inside on_mount(): it is the browser that listens");
}
