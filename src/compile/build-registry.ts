import type { Signature, ViewSource } from "../protocol/index.ts";

/** An import of a server function's stub in browser code. */
export interface StubUse {
  /** The server module that declares it, relative to the project's root. */
  readonly file: string;
  readonly name: string;
  /** The module that imports it, relative to the project's root. */
  readonly importer: string;
}

/** The views, server functions and stubs that the compile step has compiled, for the commands of the CLI. */
export interface BuildRegistry {
  /** The views of the server build. The browser imports each by its file and name. */
  views(): readonly ViewSource[];
  /** The server functions of the server build. */
  functions(): readonly Signature[];
  /** The stubs that the browser build imports. */
  stubs(): readonly StubUse[];
}

/** Records what is compiled, by module. A module that is compiled again replaces its earlier entries. */
export class BuildRecorder implements BuildRegistry {
  private readonly viewsByFile = new Map<string, readonly ViewSource[]>();
  private readonly functionsByFile = new Map<string, readonly Signature[]>();
  private readonly stubsByFile = new Map<string, readonly StubUse[]>();

  views(): readonly ViewSource[] {
    return [...this.viewsByFile.values()].flat();
  }

  functions(): readonly Signature[] {
    return [...this.functionsByFile.values()].flat();
  }

  stubs(): readonly StubUse[] {
    return [...this.stubsByFile.values()].flat();
  }

  recordServerModule(file: string, views: readonly ViewSource[], functions: readonly Signature[]): void {
    this.viewsByFile.set(file, views);
    this.functionsByFile.set(file, functions);
  }

  recordBrowserModule(file: string, stubs: readonly StubUse[]): void {
    this.stubsByFile.set(file, stubs);
  }

  delete(file: string): void {
    this.viewsByFile.delete(file);
    this.functionsByFile.delete(file);
    this.stubsByFile.delete(file);
  }
}
