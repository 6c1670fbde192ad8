/** Blocks the event loop as a computation does, and leaves the processor to other processes. */
export function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
