import type { Signature, ViewSource } from "../protocol/index.ts";
import type { ModuleFacts } from "./modules/index.ts";

/** An import of a server function's stub in browser code. */
export interface StubUse {
  /** The server module that declares it, relative to the project's root. */
  readonly file: string;
  readonly name: string;
  /** The module that imports it, relative to the project's root. */
  readonly importer: string;
}

/** A page, and the views that it may render. */
export interface PageViews {
  /** The module that declares it, relative to the project's root. */
  readonly file: string;
  readonly line: number;
  /** Its exported name. */
  readonly name: string;
  /** Its path pattern; absent if it is not written as text. */
  readonly path?: string;
  /** Whether it has a layout of its own, or none, so that it does not have that of the application. */
  readonly hasOwnLayout: boolean;
  /** The outermost views that its code names, directly or in components, on any condition. */
  readonly views: readonly ViewSource[];
}

/** The views, server functions, pages and stubs that the compile step has compiled, for the commands of the CLI. */
export interface BuildRegistry {
  /** The views of the server build. The browser imports each by its file and name. */
  views(): readonly ViewSource[];
  /** The server functions of the server build. */
  functions(): readonly Signature[];
  /** The stubs that the browser build imports. */
  stubs(): readonly StubUse[];
  /** The pages of the server build, in builds only. */
  pages(): readonly PageViews[];
  /** The views that the layout of the application may render, in builds only. */
  layoutViews(): readonly ViewSource[];
  /** The path patterns of the routes of the server build, as far as they are written as text. */
  routePaths(): readonly string[];
}

/** Records what is compiled, by module. A module that is compiled again replaces its earlier entries. */
export class BuildRecorder implements BuildRegistry {
  private readonly viewsByFile = new Map<string, readonly ViewSource[]>();
  private readonly functionsByFile = new Map<string, readonly Signature[]>();
  private readonly stubsByFile = new Map<string, readonly StubUse[]>();
  private readonly pagesByFile = new Map<string, readonly PageViews[]>();
  private readonly routePathsByFile = new Map<string, readonly string[]>();
  private viewsOfLayout: readonly ViewSource[] = [];

  views(): readonly ViewSource[] {
    return [...this.viewsByFile.values()].flat();
  }

  functions(): readonly Signature[] {
    return [...this.functionsByFile.values()].flat();
  }

  /**
   * Returns the hash of a function's signature as the server's build has it. The browser's build does not compute it again:
   * a difference would refuse all calls.
   *
   * @returns `undefined` in development
   */
  hashOf({ file, name }: Pick<Signature, "file" | "name">): string | undefined {
    return this.functions().find((signature) => signature.file === file && signature.name === name)?.hash;
  }

  stubs(): readonly StubUse[] {
    return [...this.stubsByFile.values()].flat();
  }

  pages(): readonly PageViews[] {
    return [...this.pagesByFile.values()].flat();
  }

  layoutViews(): readonly ViewSource[] {
    return this.viewsOfLayout;
  }

  routePaths(): readonly string[] {
    return [...this.routePathsByFile.values()].flat();
  }

  recordServerModule({ source: { file }, views, endpoints }: ModuleFacts, functions: readonly Signature[]): void {
    this.viewsByFile.set(file, views);
    this.functionsByFile.set(file, functions);
    const routes = endpoints.filter(({ kind }) => kind === "route");
    this.routePathsByFile.set(
      file,
      routes.map(({ path }) => path),
    );
  }

  recordBrowserModule(file: string, stubs: readonly StubUse[]): void {
    this.stubsByFile.set(file, stubs);
  }

  recordPages(file: string, pages: readonly PageViews[]): void {
    this.pagesByFile.set(file, pages);
  }

  recordLayout(views: readonly ViewSource[]): void {
    this.viewsOfLayout = views;
  }

  delete(file: string): void {
    this.viewsByFile.delete(file);
    this.functionsByFile.delete(file);
    this.stubsByFile.delete(file);
    this.pagesByFile.delete(file);
    this.routePathsByFile.delete(file);
  }
}
