const LANGUAGES = {
  ts: "ts",
  mts: "ts",
  cts: "ts",
  tsx: "tsx",
  js: "jsx",
  mjs: "jsx",
  cjs: "jsx",
  jsx: "jsx",
} as const;

/** Returns whether a file belongs to an installed package. */
export function isInNodeModules(file: string): boolean {
  return /[\\/]node_modules[\\/]/.test(file);
}

/** Removes `?query` and `#hash` from a module id. */
export function stripQuery(id: string): string {
  return id.replace(/[?#].*$/s, "");
}

/** Returns whether an id has one of Vite's queries that import a file as text, URL or worker instead of as a module. */
export function hasAssetQuery(id: string): boolean {
  return /[?&](?:raw|url|inline|no-inline|init|worker|sharedworker)(?:[&=#]|$)/.test(id);
}

/** Returns whether a file is TypeScript or JavaScript, by its extension. */
export function isScript(file: string): boolean {
  return languageOf(file) !== undefined;
}

/** Returns the language of a file by its extension; `undefined` when it is neither TypeScript nor JavaScript. */
export function languageOf(file: string): (typeof LANGUAGES)[keyof typeof LANGUAGES] | undefined {
  const extension = file.slice(file.lastIndexOf(".") + 1).toLowerCase();
  return Object.hasOwn(LANGUAGES, extension) ? LANGUAGES[extension as keyof typeof LANGUAGES] : undefined; // an own key: checked
}
