/**
 * The methods of a request that hold its whole body in memory. `clone` does as well: what one of two readers has read
 * waits for the other one. Not every runtime has all of them.
 */
const METHODS = ["arrayBuffer", "blob", "bytes", "clone", "formData", "json", "text"];

/**
 * Calls a function before each call of a method that holds the whole body of a request in memory. Reading `request.body`
 * as a stream does not call it.
 */
export function onWholeBodyRead(request: Request, listener: () => void): void {
  for (const name of METHODS) {
    const method: unknown = Reflect.get(request, name);
    if (typeof method !== "function") continue;
    const value = (...args: unknown[]): unknown => {
      listener();
      return Reflect.apply(method, request, args);
    };
    Object.defineProperty(request, name, { value, configurable: true, writable: true });
  }
}
