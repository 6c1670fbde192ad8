/**
 * The methods of a request that hold its whole body in memory. `clone` is one of them: what one copy has read is kept until the
 * other copy has read it. Not every runtime has all methods.
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
