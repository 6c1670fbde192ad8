/**
 * A temporary folder for a test's server, which can be restored to an earlier state.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder, empty at first. */
export class TemporaryFolder {
  readonly path: string;

  constructor(name: string) {
    this.path = mkdtempSync(join(tmpdir(), `tsweb-${name}-`));
  }

  get #savedPath(): string {
    return `${this.path}-saved`;
  }

  /** Copies its contents for {@link restore}. */
  save(): void {
    rmSync(this.#savedPath, { recursive: true, force: true });
    cpSync(this.path, this.#savedPath, { recursive: true });
  }

  /** Replaces its contents by the copy of {@link save}. */
  restore(): void {
    rmSync(this.path, { recursive: true, force: true });
    cpSync(this.#savedPath, this.path, { recursive: true });
  }

  /** Deletes it, and the copy. A process that Redis has started may still write into it for a moment. */
  remove(): void {
    for (const path of [this.path, this.#savedPath]) rmSync(path, { recursive: true, force: true, maxRetries: 10 });
  }
}
