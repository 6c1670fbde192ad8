/**
 * A small application with one of everything, in a folder of its own that a test may edit and build.
 */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { repository } from "./copy-example.ts";

const FIXTURE = join(repository, "tests/system/fixtures/site");

/** A project of a test. */
export class Site {
  readonly dir: string;

  private constructor() {
    this.dir = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-site-")));
    mkdirSync(this.file("node_modules"));
    symlinkSync(repository, this.file("node_modules/tsweb"), "dir");
  }

  /** Makes a copy of the fixture, or of another project in this folder. */
  static copy(project: string = FIXTURE): Site {
    const site = new Site();
    cpSync(project, site.dir, { recursive: true });
    return site;
  }

  /** Makes a project of these files alone. */
  static of(files: Readonly<Record<string, string>>): Site {
    const site = new Site();
    site.write("package.json", '{ "name": "site", "private": true, "type": "module" }\n');
    for (const [name, text] of Object.entries(files)) site.write(name, text);
    return site;
  }

  file(name: string): string {
    return join(this.dir, name);
  }

  read(name: string): string {
    return readFileSync(this.file(name), "utf8");
  }

  write(name: string, text: string | Uint8Array): void {
    mkdirSync(dirname(this.file(name)), { recursive: true });
    writeFileSync(this.file(name), text);
  }

  /**
   * Replaces a part of a file.
   *
   * @returns what puts it back as it was
   * @throws Error when the file does not have it
   */
  edit(name: string, part: string, other: string): () => void {
    const text = this.read(name);
    if (!text.includes(part)) throw new Error(`${name} does not have ${JSON.stringify(part)}.`);
    this.write(
      name,
      text.replace(part, () => other),
    );
    return () => this.write(name, text);
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}
