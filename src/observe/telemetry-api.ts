/**
 * The API of OpenTelemetry: the package `@opentelemetry/api`. The declarations of this module need the package, so no module whose
 * declarations applications read may show its types: most applications have not installed it.
 */
export type TelemetryApi = typeof import("@opentelemetry/api");

/** What an import of the package has resulted in. */
interface LoadedApi {
  /** `null` if it is not installed, or cannot be loaded. */
  readonly api: TelemetryApi | null;
  /** Why an installed package cannot be loaded. */
  readonly error?: unknown;
}

/**
 * Returns whether an SDK has registered itself: every copy of the package keeps what was registered in one property of the
 * global object, for each of its major versions. Without an SDK, the package is not loaded.
 */
export function hasRegisteredSdk(): boolean {
  return Object.getOwnPropertySymbols(globalThis).some(({ description }) =>
    description?.startsWith("opentelemetry.js.api."),
  );
}

/** Lives as long as the process, as the package itself does. */
let loading: Promise<LoadedApi> | undefined;

/** Loads `@opentelemetry/api`, an optional peer dependency, once. Never rejects. */
export function loadTelemetryApi(): Promise<LoadedApi> {
  loading ??= load();
  return loading;
}

async function load(): Promise<LoadedApi> {
  try {
    const module: TelemetryApi & { readonly default?: TelemetryApi } = await import("@opentelemetry/api");
    return { api: module.trace ? module : (module.default ?? null) }; // Node may see it as a CommonJS module
  } catch (error) {
    return isMissing(error) ? { api: null } : { api: null, error };
  }
}

/** Returns whether a package is not installed. In a built application, Vite throws an error of its own. */
export function isMissing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return code === "ERR_MODULE_NOT_FOUND" || error.message.includes('Could not resolve "@opentelemetry/api"');
}
