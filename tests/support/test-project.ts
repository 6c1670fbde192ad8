/**
 * A project of an application in a temporary folder, which a test can edit and build.
 */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
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

/** A temporary project. It resolves `tsweb` to this repository. */
export class TestProject {
  readonly dir: string;

  private constructor() {
    this.dir = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-site-")));
    mkdirSync(this.file("node_modules"));
    symlinkSync(repository, this.file("node_modules/tsweb"), "dir");
  }

  /** Creates a copy of a project. Default: the fixture, which has pages, routes, functions, views and files. */
  static copy(project: string = FIXTURE): TestProject {
    const created = new TestProject();
    cpSync(project, created.dir, { recursive: true });
    return created;
  }

  /** Creates a project with the given files, by their paths. */
  static fromFiles(files: Readonly<Record<string, string>>): TestProject {
    const created = new TestProject();
    created.write("package.json", '{ "name": "site", "private": true, "type": "module" }\n');
    for (const [name, text] of Object.entries(files)) created.write(name, text);
    return created;
  }

  /**
   * Links packages that are installed in another folder.
   *
   * @param names their names. Default: all
   */
  linkPackages(dir: string, names: readonly string[] = readdirSync(join(dir, "node_modules"))): void {
    for (const name of names) {
      if (name.startsWith(".")) continue;
      const link = this.file(`node_modules/${name}`);
      mkdirSync(dirname(link), { recursive: true }); // of a scope
      symlinkSync(join(dir, "node_modules", name), link);
    }
  }

  /**
   * Replaces the link to this repository by a copy of the built package, as an installation creates it: tools then name
   * its files `node_modules/tsweb/dist/…`. The packages that it imports are linked.
   */
  installTsweb(): void {
    const installed = this.file("node_modules/tsweb");
    rmSync(installed);
    for (const name of ["package.json", "bin", "dist"]) {
      cpSync(join(repository, name), join(installed, name), { recursive: true });
    }
    const { dependencies } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
    this.linkPackages(repository, Object.keys(dependencies));
  }

  /** Returns the absolute path of a file. */
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
   * Replaces the first occurrence of a text in a file.
   *
   * @returns a function that restores the file
   * @throws Error if the file does not contain the text
   */
  edit(name: string, search: string, replacement: string): () => void {
    const text = this.read(name);
    if (!text.includes(search)) throw new Error(`${name} does not contain ${JSON.stringify(search)}.`);
    this.write(
      name,
      text.replace(search, () => replacement),
    );
    return () => this.write(name, text);
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}
