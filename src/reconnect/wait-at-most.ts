/**
 * Waits for a promise, but no longer than a time. Use it for the waits of a start: its timer keeps the process running.
 * Where nothing else does, as before a server listens, Node would end a program that waits with the exit code 13.
 *
 * @param late the result if the promise is still pending after `ms` milliseconds
 */
export async function waitAtMost<T, L>(promise: Promise<T>, ms: number, late: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<L>((resolve) => {
    timer = setTimeout(resolve, ms, late);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
