const kept = new Set<object>();

/**
 * Keeps a request in memory until the returned function is called.
 *
 * Node's `Request` follows the signal that it was created with through a weak reference. If nothing refers to the request
 * but listeners of its own signal, the garbage collector removes both, and the signal never aborts.
 */
export function keepInMemory(request: object): () => void {
  kept.add(request);
  return () => void kept.delete(request);
}
