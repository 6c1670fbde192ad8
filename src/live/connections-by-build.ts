import { BUILD_ID } from "../protocol/index.ts";

/** Counts the open live connections by the build of their page. @see docs/protocol.md 3.9 */
export class ConnectionsByBuild {
  /** Has no entry without connections, so that it is no larger than their number. */
  readonly #counts = new Map<string, number>();

  /**
   * Counts a connection that was opened.
   *
   * @param build what the page has sent; any other text than an id is not counted
   * @returns a function to call once when the connection has ended
   */
  add(build: string | null): () => void {
    if (build === null || !BUILD_ID.test(build)) return () => undefined;
    this.#change(build, 1);
    return () => this.#change(build, -1);
  }

  /** Returns how many connections of pages of earlier builds are open. */
  before(build: string): number {
    let sum = 0;
    for (const [other, count] of this.#counts) if (other < build) sum += count;
    return sum;
  }

  #change(build: string, difference: number): void {
    const count = (this.#counts.get(build) ?? 0) + difference;
    if (count > 0) this.#counts.set(build, count);
    else this.#counts.delete(build);
  }
}
