/**
 * Runs a call in development. Its error has the lines of the stack at which the call was made, so that an error that
 * nothing catches has a location in the application: its own stack ends in the code that received the response.
 */
export async function withCallSite<T>(run: () => Promise<T>): Promise<T> {
  const { stack = "" } = new Error();
  try {
    return await run();
  } catch (error) {
    if (error instanceof Error && !(error instanceof DOMException)) addFrames(error, stack);
    throw error;
  }
}

/** Adds the frames of a stack to an error, below its own. */
function addFrames(error: Error, stack: string): void {
  const own = error.stack ?? "";
  const frames = stack.split("\n").filter((line) => /:\d+:\d+\)?$/.test(line) && !own.includes(line.trim()));
  error.stack = [own, ...frames].join("\n");
}
