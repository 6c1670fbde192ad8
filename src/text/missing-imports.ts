/** The modules that export what applications call or render, as an import names them. */
const EXPORTS: Readonly<Record<string, readonly string[]>> = {
  '"tsweb/browser"': ["view", "state", "on_mount", "on_unmount", "on_progress", "subscribe"],
  '"tsweb"': [
    ...["App", "page", "route", "server", "session", "request", "redirect", "once", "channel", "publish", "realtime"],
    ...["send_file", "project_path", "Head", "Html", "Body", "NotFound"],
    ...["ValueError", "ConfigError", "SerializeError"],
  ],
  '"tsweb", or in a view from "tsweb/browser"': ["RPCError", "form"],
  '"preact/hooks"': [
    ...["useReducer", "useLayoutEffect", "useRef", "useMemo", "useCallback", "useContext", "useId"],
    ...["useImperativeHandle", "useErrorBoundary"],
  ],
  '"preact"': ["Fragment", "createContext", "createRef"],
};

/** What tsweb has in place of a hook. */
const ALTERNATIVES: Readonly<Record<string, string>> = { useState: "state", useEffect: "on_mount" };

/**
 * Returns which import is missing, if an error is about a name of tsweb or Preact: what "state is not defined" leaves out.
 * Otherwise an empty string.
 */
export function missingImportAdvice({ name, message }: { readonly name?: string; readonly message: string }): string {
  const missing = name === "ReferenceError" ? /^(\w+) is not defined$/.exec(message)?.[1] : undefined;
  if (missing === undefined) return "";
  if (Object.hasOwn(ALTERNATIVES, missing)) {
    const own = `Use \`${ALTERNATIVES[missing]}\`, imported from "tsweb/browser"`;
    return `${missing} is not imported. ${own}, or import ${missing} from "preact/hooks".`;
  }
  const [module] = Object.entries(EXPORTS).find(([, names]) => names.includes(missing)) ?? [];
  return module === undefined ? "" : `${missing} is not imported. Import it from ${module}.`;
}
