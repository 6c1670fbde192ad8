import type { Signature, ViewSource } from "../protocol/index.ts";

/** A server function whose stub a module of the browser's graph imports. */
export interface StubUse {
  /** The server module that declares it, relative to the project's root. */
  readonly file: string;
  readonly name: string;
  /** The module that imports it, relative to the project's root. */
  readonly importer: string;
}

/** What the compile step has seen, for what is built around it. */
export interface Registry {
  /** The views in the server's graph: each is imported by the browser, by its file and name. */
  views(): readonly ViewSource[];
  /** The server functions in the server's graph. */
  functions(): readonly Signature[];
  /** The stubs that the browser's graph imports. */
  stubs(): readonly StubUse[];
}

/** Collects what is seen, by module: a module that is compiled again replaces what it was. */
export class Seen implements Registry {
  private readonly viewsOf = new Map<string, readonly ViewSource[]>();
  private readonly functionsOf = new Map<string, readonly Signature[]>();
  private readonly stubsOf = new Map<string, readonly StubUse[]>();

  views(): readonly ViewSource[] {
    return [...this.viewsOf.values()].flat();
  }

  functions(): readonly Signature[] {
    return [...this.functionsOf.values()].flat();
  }

  stubs(): readonly StubUse[] {
    return [...this.stubsOf.values()].flat();
  }

  onServer(file: string, views: readonly ViewSource[], functions: readonly Signature[]): void {
    this.viewsOf.set(file, views);
    this.functionsOf.set(file, functions);
  }

  inBrowser(file: string, stubs: readonly StubUse[]): void {
    this.stubsOf.set(file, stubs);
  }

  forget(file: string): void {
    this.viewsOf.delete(file);
    this.functionsOf.delete(file);
    this.stubsOf.delete(file);
  }
}
