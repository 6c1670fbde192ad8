/** How much work the compile step does for an application of n pages, n views and 2n functions: as much for each unit. */
import { build, type InlineConfig, type Plugin } from "vite";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { generatedApp, viewFile } from "../../bench/lib/generated-app.mjs";
import { compileStep } from "../../src/compile/index.ts";
import { Project } from "./project.ts";

/** How often each file is read and parsed, by its path. */
const counts = vi.hoisted(() => ({ read: new Map<string, number>(), parsed: new Map<string, number>() }));

const increment = vi.hoisted(
  () => (count: Map<string, number>, key: string) => count.set(key, (count.get(key) ?? 0) + 1),
);

vi.mock("node:fs", async (importOriginal) => {
  const fs = await importOriginal<typeof import("node:fs")>();
  const readFileSync = (file: string, options: BufferEncoding) => {
    increment(counts.read, file);
    return fs.readFileSync(file, options);
  };
  return { ...fs, readFileSync };
});

vi.mock("../../src/compile/modules/module-facts.ts", async (importOriginal) => {
  const original = await importOriginal<typeof import("../../src/compile/modules/module-facts.ts")>();
  const readModule: typeof original.readModule = (source, root) => {
    increment(counts.parsed, source.file);
    return original.readModule(source, root);
  };
  return { ...original, readModule };
});

beforeEach(() => {
  counts.read.clear();
  counts.parsed.clear();
});

/** Counts how often each import is resolved: by the compile step, by the bundler or by the development server. */
class ResolveCounter {
  readonly byImport = new Map<string, number>();

  plugin(): Plugin {
    const { byImport } = this;
    return {
      name: "test:resolve-counter",
      enforce: "pre",
      sharedDuringBuild: true,
      resolveId: {
        order: "pre",
        handler(source, importer) {
          increment(byImport, `${this.environment.name} ${importer} ${source}`);
          return null;
        },
      },
    };
  }
}

/** Records the modules that no plugin loads: the bundler reads their files itself. */
class UnloadedModules {
  readonly ids: string[] = [];

  plugin(): Plugin {
    const { ids } = this;
    return {
      name: "test:unloaded-modules",
      enforce: "post",
      sharedDuringBuild: true,
      load: {
        order: "post",
        handler(id) {
          ids.push(id);
          return null;
        },
      },
    };
  }
}

const UNITS = 12;

function createProject() {
  const project = new Project(generatedApp(UNITS));
  const resolves = new ResolveCounter();
  const unloaded = new UnloadedModules();
  const { plugins } = compileStep({});
  const shared: InlineConfig = { plugins: [resolves.plugin(), plugins, unloaded.plugin()] };
  const ownFiles = (count: ReadonlyMap<string, number>) => [...count].filter(([file]) => file.startsWith(project.root));
  const ownResolves = () => [...resolves.byImport].filter(([key]) => key.includes(` ${project.root}/src/`));
  const ownUnloaded = () => unloaded.ids.filter((id) => id.startsWith(`${project.root}/src/`));
  return { project, shared, ownFiles, ownResolves, ownUnloaded };
}

const numbers = Array.from({ length: UNITS }, (_, number) => number);

describe("the compile step", () => {
  it("reads and parses each module of a build once, and resolves each import twice: for its checks, and for the bundler", async () => {
    const { project, shared, ownFiles, ownResolves, ownUnloaded } = createProject();
    const output = { write: false, minify: false } as const;
    const external = /^(?:tsweb|preact)/;
    const server = { input: project.file("src/app.ts"), external };
    await build(project.config({ ...shared, resolve: {}, build: { ...output, ssr: true, rolldownOptions: server } }));
    const views = { input: numbers.map((number) => project.file(viewFile(number))), external };
    await build(project.config({ ...shared, resolve: {}, build: { ...output, rolldownOptions: views } }));

    expect(ownFiles(counts.parsed).length).toBeGreaterThanOrEqual(3 * UNITS);
    expect(ownFiles(counts.parsed).filter(([, count]) => count > 1)).toEqual([]);
    expect(ownFiles(counts.read).length).toBeGreaterThanOrEqual(3 * UNITS);
    expect(ownFiles(counts.read).filter(([, count]) => count > 1)).toEqual([]);
    expect(ownUnloaded()).toEqual([]);
    expect(ownResolves().length).toBeGreaterThanOrEqual(6 * UNITS);
    expect(ownResolves().filter(([, count]) => count > 2)).toEqual([]);
  });

  it("reads and parses each module of the development server once, and resolves no import more often in a larger application", async () => {
    const { project, shared, ownFiles, ownResolves } = createProject();
    project.install("tsweb", "preact");
    const server = await project.serve({ ...shared, resolve: {} });
    const { client, ssr } = server.environments;
    await ssr?.transformRequest(project.file("src/app.ts"));
    for (const number of numbers) {
      await ssr?.transformRequest(project.file(`src/unit${number}/pages.server.tsx`));
      await ssr?.transformRequest(project.file(`src/unit${number}/functions.server.ts`));
      await client?.transformRequest(`/${viewFile(number)}`);
    }
    expect(ownFiles(counts.parsed).length).toBeGreaterThanOrEqual(3 * UNITS);
    expect(ownFiles(counts.parsed).filter(([, count]) => count > 1)).toEqual([]);
    expect(ownFiles(counts.read).filter(([, count]) => count > 1)).toEqual([]);
    expect(ownResolves().filter(([, count]) => count > 4)).toEqual([]);
  });
});
