import type { DevEnvironment } from "vite";
import type { ModuleFacts, ModuleResolver } from "../modules/index.ts";

/**
 * The modules that a rule is for: those that are compiled for the server, those for the browser, both; the code of browsers, which
 * are those for the browser and, on the server, the modules with views; the application's own module, and the other server
 * modules.
 */
export type Side = "both" | "server" | "browser" | "browser code" | "application" | "other server modules";

interface RuleBase {
  /** The name of its file, or `<file>: <rule>` in a file with several rules. */
  readonly name: string;
  readonly side: Side;
  /** Returns whether a module without declarations may break the rule, without parsing it. Errs towards yes. */
  readonly mayConcern?: (code: string) => boolean;
}

/** A rule that needs the module alone. */
export interface ModuleRule extends RuleBase {
  readonly needs?: undefined;
  /** @throws CompileError at the mistake */
  readonly check: (facts: ModuleFacts) => void;
}

/** A rule that follows imports. */
export interface ProjectRule extends RuleBase {
  readonly needs: "project";
  /** @throws CompileError at the mistake */
  readonly check: (facts: ModuleFacts, resolver: ModuleResolver) => Promise<void>;
}

/** A rule that needs Vite: the packages, the configuration or the application. */
export interface ViteRule extends RuleBase {
  readonly needs: "vite";
  /** @throws CompileError at the mistake */
  readonly check: ViteCheck<void> | ViteCheck<Promise<void>>;
}

/** A rule that needs Vite and returns warnings. It may throw a CompileError as well. */
export interface WarningRule extends RuleBase {
  readonly needs: "vite";
  /** Whether it is left out in tests: Vitest gives all variables to modules, and the advice is for pages. */
  readonly notInTests?: true;
  readonly warn: ViteCheck<string[]> | ViteCheck<Promise<string[]>>;
}

type ViteCheck<Result> = (facts: ModuleFacts, resolver: ViteRuleResolver) => Result;

export type Rule = ModuleRule | ProjectRule | ViteRule | WarningRule;

/** Resolves imports, also those of packages. */
export interface PackageResolver {
  /** The project's root, absolute, with forward slashes. */
  readonly root: string;
  /** Resolves a specifier to a file; `undefined` when it is missing or belongs to an external package. */
  readonly resolve: (specifier: string, importer: string) => Promise<string | undefined>;
  /** Returns whether a specifier matches no file, no package and no alias. */
  readonly isMissing: (specifier: string, importer: string) => Promise<boolean>;
}

/** The settings of Vite that give meaning to globals of Node in browser code. */
export interface DefinedGlobals {
  /** Returns whether the option `define` replaces an expression, such as `process.env.API`. */
  isReplaced(expression: string): boolean;
  /** Whether a plugin adds Node's globals to browser code. */
  readonly hasPolyfills: boolean;
}

/** What Vite gives to a module as `import.meta.env`. */
export interface ExposedVariables {
  /** The option `envPrefix`: variables whose name begins with one of these are sent to browsers. */
  readonly prefixes: readonly string[];
  /** Returns whether a name has a value: a variable, or a constant of Vite or of the option `define`. */
  has(name: string): boolean;
}

/** What rules know of a module that Vite compiles. */
export interface ViteRuleResolver extends ModuleResolver, PackageResolver {
  /** The side that the module is compiled for. */
  readonly side: "server" | "browser";
  /** Whether the module is the application's own. */
  readonly isApplication: boolean;
  readonly isTest: boolean;
  /** The settings of the project's Vite config. */
  readonly defined: DefinedGlobals | undefined;
  readonly exposed: ExposedVariables | undefined;
  /** The environment of browser code in development, for a module that is compiled for the server. */
  readonly client: DevEnvironment | undefined;
  /** Reads the application's own module; `undefined` if there is none. */
  application(): Promise<ModuleFacts | undefined>;
  /** Returns a value that is computed once for all modules, and again after files have changed. */
  remember<T>(key: string, compute: () => Promise<T>): Promise<T>;
  /** Reads the imports of browser code. @throws CompileError at an import that browser code cannot have */
  readImports(): Promise<unknown>;
}
