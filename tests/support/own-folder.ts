/**
 * The folder of a server of a test's own, which can be set back.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder, empty at first. */
export class OwnFolder {
  readonly path: string;

  constructor(name: string) {
    this.path = mkdtempSync(join(tmpdir(), `tsweb-${name}-`));
  }

  get #saved(): string {
    return `${this.path}-saved`;
  }

  /** Copies what is in it; {@link restore} brings that back. */
  save(): void {
    rmSync(this.#saved, { recursive: true, force: true });
    cpSync(this.path, this.#saved, { recursive: true });
  }

  /** Puts what {@link save} copied in the place of what is in it. */
  restore(): void {
    rmSync(this.path, { recursive: true, force: true });
    cpSync(this.#saved, this.path, { recursive: true });
  }

  /** Deletes it, with what was saved of it. */
  remove(): void {
    for (const path of [this.path, this.#saved]) rmSync(path, { recursive: true, force: true });
  }
}
