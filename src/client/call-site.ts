/** The frames of a stack at which a call was made, from the caller of the client's function on. */
export class CallSite {
  readonly stack: string = "";

  /** @param callee the function that the caller has called: its own frame is left out */
  constructor(callee: (...args: never[]) => unknown) {
    // Only collects the frames: the text is made when `stack` is read. Other engines than V8 may not have it.
    Error.captureStackTrace?.(this, callee);
  }

  /** Adds the frames to the stack of an error, once: its own frames end in the code that has received the response. */
  addTo(error: unknown): void {
    if (!(error instanceof Error) || error.stack === undefined) return;
    const own = error.stack;
    const frames = this.stack.split("\n").filter((line) => /^\s+at /.test(line) && !own.includes(line.trim()));
    if (frames.length > 0) error.stack = [own, ...frames].join("\n");
  }
}
