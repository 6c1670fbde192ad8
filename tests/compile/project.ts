import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, createServer, type InlineConfig, type Rolldown, type ViteDevServer } from "vite";
import { afterEach } from "vitest";
import { tsweb } from "../../src/compile/vite.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const source = (path: string) => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));

/** Maps the entry points of tsweb to the source, so that the tests need no build of the package. */
const ENTRY_POINT_ALIASES = [
  { find: /^tsweb$/, replacement: source("index.ts") },
  { find: /^tsweb\/browser$/, replacement: source("browser/index.ts") },
  { find: /^tsweb\/stub$/, replacement: source("browser/stub.ts") },
  { find: /^tsweb\/islands$/, replacement: source("browser/islands.ts") },
  { find: /^tsweb\/jsx-runtime$/, replacement: source("jsx-runtime.ts") },
  { find: /^tsweb\/jsx-dev-runtime$/, replacement: source("jsx-dev-runtime.ts") },
];

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** A project in a temporary folder, for one test. */
export class Project {
  readonly root: string;

  constructor(files: Readonly<Record<string, string>>) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-compile-")));
    cleanups.push(() => rmSync(this.root, { recursive: true, force: true }));
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  file(name: string): string {
    return join(this.root, name);
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(this.file(name)), { recursive: true });
    writeFileSync(this.file(name), text);
  }

  /** Links packages of this repository into the project. `tsweb` is the built package. */
  install(...names: string[]): void {
    for (const name of names) {
      mkdirSync(dirname(this.file(`node_modules/${name}`)), { recursive: true });
      symlinkSync(
        name === "tsweb" ? repository : join(repository, "node_modules", name),
        this.file(`node_modules/${name}`),
      );
    }
  }

  config(overrides: InlineConfig = {}): InlineConfig {
    return {
      root: this.root,
      configFile: false,
      logLevel: "silent",
      appType: "custom",
      plugins: [tsweb()],
      resolve: { alias: ENTRY_POINT_ALIASES },
      ...overrides,
    };
  }

  /** Builds modules for the browser, with source maps, and returns every output file. */
  async buildClient(entries: string | string[], overrides: InlineConfig = {}): Promise<Output> {
    const rolldownOptions = this.inputs([entries].flat(), "exports-only");
    return this.output(await build(this.config({ ...overrides, build: { ...CLIENT, rolldownOptions } })));
  }

  /** Builds modules for the server, with tsweb as an external package, and returns every output file. */
  async buildServer(...entries: string[]): Promise<Output> {
    const rolldownOptions = { ...this.inputs(entries, "strict"), external: /^tsweb/ };
    return this.output(await build(this.config({ resolve: {}, build: { ...CLIENT, ssr: true, rolldownOptions } })));
  }

  /** Starts a development server in middleware mode, without a port. */
  async serve(overrides: InlineConfig = {}): Promise<ViteDevServer> {
    const server = await createServer(
      this.config({
        server: { middlewareMode: true, ws: false, watch: null },
        optimizeDeps: { noDiscovery: true },
        ...overrides,
      }),
    );
    cleanups.push(() => server.close());
    return server;
  }

  private inputs(entries: string[], preserveEntrySignatures: "exports-only" | "strict") {
    return { input: entries.map((entry) => this.file(entry)), preserveEntrySignatures };
  }

  private output(built: Awaited<ReturnType<typeof build>>): Output {
    const [bundle] = [built].flat();
    if (!bundle || !("output" in bundle)) throw new Error("The build is in watch mode and has no output.");
    return bundle.output.map((file) => ({
      name: file.fileName,
      text: file.type === "chunk" ? `${file.code}\n${JSON.stringify(file.map)}` : String(file.source),
    }));
  }
}

const CLIENT = { write: false, minify: false, sourcemap: true } as const;

/** The output files of a build. */
export type Output = readonly { readonly name: string; readonly text: string }[];

/** The error of a failed build, as Vite reports it. */
export interface BuildFailure {
  readonly message: string;
  readonly id: string | undefined;
  readonly loc: Rolldown.RolldownError["loc"];
  readonly frame: string | undefined;
}

/** Waits for a build to fail and returns its first error. */
export async function buildFailure(building: Promise<unknown>): Promise<BuildFailure> {
  const error: unknown = await building.then(
    () => {
      throw new Error("The build did not fail.");
    },
    (reason: unknown) => reason,
  );
  const errors = error instanceof Error && "errors" in error && Array.isArray(error.errors) ? error.errors : [error];
  const [first] = errors;
  return { message: first.message, id: first.id, loc: first.loc, frame: first.frame };
}
