// The allowed imports between the parts of src/. rules.mjs generates the rules of dependency-cruiser from this table, and
// graph.mjs generates the graph in CONTRIBUTING.md.

export const TABLE = "scripts/imports/table.mjs";

/** Parts that every part below them may import. */
export const SHARED = ["errors.ts", "protocol"];

/**
 * The parts of src/: its folders, and its single files. Each part lists the parts that it may import besides
 * `SHARED`. A part may list only parts above it, so that imports have one direction. `(types)` allows only `import type`.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const MAY_IMPORT = {
  "errors.ts": [],
  protocol: [],
  text: [],
  "assets.d.ts": [],
  "jsx-runtime.ts": [],
  "jsx-dev-runtime.ts": [],
  browser: ["text", "assets.d.ts"],
  logging: [],
  config: ["text", "logging"],
  "cookie-jar.ts": [],
  "reconnect.ts": ["logging (types)"],
  http: ["config", "logging (types)"],
  revocation: ["reconnect.ts", "http", "config", "logging (types)"],
  session: ["revocation", "http", "config", "logging (types)"],
  "rate-limit": [],
  limits: ["rate-limit", "session", "http", "config"],
  files: ["http"],
  bodies: ["http", "logging (types)"],
  rpc: ["text", "bodies", "http", "session", "limits", "rate-limit", "config", "logging (types)"],
  "backends/bus": ["reconnect.ts", "revocation (types)", "config", "logging (types)"],
  "backends/memory": ["backends/bus", "revocation", "rate-limit"],
  "backends/redis/client": ["reconnect.ts", "config", "logging (types)"],
  "backends/redis": [
    "backends/redis/client",
    "reconnect.ts",
    "backends/bus",
    "revocation",
    "rate-limit",
    "config",
    "logging",
  ],
  "backends/nats": ["backends/bus", "reconnect.ts", "revocation", "config", "logging"],
  backends: [
    "backends/bus",
    "backends/memory",
    "backends/redis",
    "backends/nats",
    "reconnect.ts",
    "revocation (types)",
    "rate-limit",
    "config",
    "logging",
  ],
  live: [
    "rpc",
    "backends",
    "revocation",
    "reconnect.ts",
    "bodies",
    "http",
    "session",
    "rate-limit",
    "config",
    "logging",
  ],
  forms: ["rpc", "limits", "bodies", "http", "config", "logging (types)"],
  pages: ["text", "forms", "bodies", "rpc", "session", "http", "browser", "config", "logging (types)"],
  auth: ["session", "rate-limit", "http"],
  openapi: ["rpc (types)"],
  observe: ["live (types)", "http", "config", "logging"],
  server: [
    "observe",
    "files",
    "pages",
    "forms",
    "rpc",
    "bodies",
    "live",
    "limits",
    "session",
    "rate-limit",
    "http",
    "config",
    "logging (types)",
  ],
  "app.ts": ["server", "observe", "limits", "backends", "session", "rate-limit (types)", "http", "config", "logging"],
  "adapters/fast": ["bodies", "http (types)"],
  adapters: [
    "adapters/fast",
    "app.ts (types)",
    "server",
    "observe",
    "bodies",
    "http",
    "config (types)",
    "logging",
    "rate-limit",
  ],
  client: ["cookie-jar.ts"],
  testing: ["app.ts (types)", "server", "client", "cookie-jar.ts", "rpc (types)", "session", "http"],
  "compile/syntax": [],
  "compile/types": ["compile/syntax"],
  "compile/modules": ["compile/types", "compile/syntax"],
  "compile/rules": ["compile/modules", "compile/syntax", "text"],
  compile: ["compile/rules", "compile/modules", "compile/types", "compile/syntax", "text"],
  panel: ["server", "observe (types)", "rpc", "session", "http", "config (types)", "logging (types)"],
  "cli/project": ["openapi (types)"],
  "cli/errors": ["cli/project", "compile", "text"],
  "cli/modules": ["cli/project", "compile"],
  "cli/new": ["cli/project", "text"],
  "cli/sizes": ["cli/project", "cli/modules", "compile (types)", "server (types)"],
  "cli/build": [
    "cli/project",
    "cli/errors",
    "cli/modules",
    "cli/sizes",
    "text",
    "compile",
    "server (types)",
    "pages (types)",
    "config",
  ],
  "cli/dev/page": [],
  "cli/dev/server": [
    "cli/project",
    "cli/errors",
    "cli/modules",
    "panel",
    "compile",
    "adapters",
    "app.ts (types)",
    "server",
    "pages (types)",
    "http",
  ],
  "cli/dev/advice": [
    "cli/build",
    "cli/project",
    "cli/errors",
    "cli/modules",
    "cli/dev/server",
    "text",
    "compile",
    "adapters (types)",
    "server (types)",
    "observe (types)",
    "pages",
    "http",
  ],
  "cli/dev": [
    "cli/project",
    "cli/errors",
    "cli/modules",
    "cli/dev/server",
    "cli/dev/advice",
    "panel (types)",
    "openapi",
    "compile",
    "adapters",
    "app.ts (types)",
    "server",
    "http",
    "config",
  ],
  cli: [
    "cli/project",
    "cli/new",
    "cli/build",
    "cli/dev",
    "compile",
    "openapi",
    "server",
    "rpc",
    "live",
    "session",
    "config",
    "text",
  ],
  "index.ts": [
    "app.ts",
    "assets.d.ts",
    "files",
    "server",
    "observe (types)",
    "pages",
    "live",
    "rpc",
    "limits",
    "session",
    "http",
    "config",
    "logging (types)",
  ],
};

/**
 * The parts that run in browsers, with the packages that they may import. None of them may import a `node:` module.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const BROWSER_PACKAGES = {
  "errors.ts": [],
  protocol: ["preact (types)"],
  text: [],
  browser: ["preact"],
  "jsx-runtime.ts": ["preact"],
  "jsx-dev-runtime.ts": ["preact"],
  "cli/dev/page": ["vite (types)"],
};

/** The file of browser/ that imports a further package: in development only, so no page of an application loads it. */
export const DEVELOPMENT_IMPORT = { file: "^src/browser/dev/hydration[.]ts$", name: "preact-render-to-string" };

/** The folders without a row: their files belong to the part of the folder around them. */
const INNER_FOLDERS = { browser: ["dev"], live: ["queries"] };

const TYPES = " (types)";

export const parts = Object.keys(MAY_IMPORT);

/** Returns whether a part is above another one in the table. */
export function isAbove(part, other) {
  return parts.includes(part) && parts.indexOf(part) < parts.indexOf(other);
}

/** Returns the name in an entry of a list: the part or package, without `(types)`. */
export function nameOf(entry) {
  return entry.endsWith(TYPES) ? entry.slice(0, -TYPES.length) : entry;
}

/** Returns whether an entry of a list allows only `import type`. */
export function isTypesOnly(entry) {
  return entry.endsWith(TYPES);
}

/** Returns the part of src/ that a file belongs to, or `undefined` if the table has no row for it. */
export function partOf(file) {
  const path = file.replace(/^src\//, "").replace(/\.test(-d)?(?=\.tsx?$)/, "");
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : path;
  return parts.find((part) => part === folder || innerFolders(part).some((inner) => `${part}/${inner}` === folder));
}

/** Returns the folders in a part that have no row of their own. */
export function innerFolders(part) {
  return INNER_FOLDERS[part] ?? [];
}
