import { isBuiltin } from "node:module";
import { posix } from "node:path";
import MagicString from "magic-string";
import { CompileError, type Span } from "./errors.ts";
import { type ModuleFacts, relativeFile } from "./module.ts";
import { fileOf, isServerModule } from "./parse.ts";
import { type Reference, readReferences, type TakenName } from "./references.ts";
import type { StubUse } from "./registry.ts";
import { isFunctionOf, type Served } from "./served.ts";
import type { Compiled } from "./server-side.ts";
import { originOf, type World } from "./world.ts";

/** The doors of tsweb that the browser may come in by; every other one is the server's. */
const BROWSER_DOORS = new Set(["browser", "stub", "islands", "jsx-runtime", "jsx-dev-runtime"]);

/** Answers whether a specifier is a door of tsweb that only the server has. Errs towards yes. */
export function isServerDoor(specifier: string): boolean {
  const [name, ...door] = specifier.replace(/[?#].*$/s, "").split("/");
  return name === "tsweb" && !BROWSER_DOORS.has(door.join("/"));
}

/** Says why a specifier that only the server has may not stand in browser code. */
export function serverDoorSentence(specifier: string): string {
  return `"${specifier}" is the server's side of tsweb, and this module goes to the browser: import from "tsweb/browser", or write \`import type\` for a type.`;
}

/** Says why a module of Node may not stand in browser code. */
export function builtinSentence(specifier: string): string {
  return `"${specifier}" is a module of Node, and this module goes to the browser: do this in a server function and call that.`;
}

/** Answers whether what follows a module's path asks for something else than the module: its text, its address. */
export function hasForeignQuery(id: string): boolean {
  const query = /\?(.*?)(?:#|$)/s.exec(id)?.[1] ?? "";
  return query.split("&").some((part) => !/^(?:$|t=\d|v=|import$)/.test(part));
}

/** Says why a server module cannot be asked for with a query such as `?raw`. */
export function foreignQuerySentence(file: string, id: string): string {
  const query = id.slice(id.indexOf("?"));
  return `${file} is a server module, whose text stays on the server: it cannot be asked for with "${query}".`;
}

function onlyFunctions(file: string): string {
  return `${file} is a server module, of which the browser has its server functions alone`;
}

/** Says why a form of import takes more of a server module than names of its functions. */
function refusedForm({ kind, names }: Reference, file: string): string | undefined {
  switch (kind) {
    case "url":
      return `${file} is a server module, and has no address in the browser: call one of its server functions.`;
    case "dynamic-import":
      return `${onlyFunctions(file)}: import them by name, \`import { name } from …\`, which loads nothing of it.`;
    case "require":
      return `${onlyFunctions(file)}: import them by name, \`import { name } from …\`.`;
    case "export-all":
      return `${onlyFunctions(file)}: name them, \`export { name } from …\`.`;
    case "import":
      return names.length > 0
        ? undefined
        : `${file} is a server module, which never runs in the browser: remove this import.`;
    case "export":
      return undefined;
  }
}

/** What the checks of a browser module found. */
export interface BrowserSide {
  readonly compiled?: Compiled;
  readonly stubs: readonly StubUse[];
  /** The server modules that it depends on. */
  readonly serverModules: readonly string[];
}

/**
 * Checks what a module of the browser's graph takes from server modules: server functions, by their
 * names, and nothing else. Types are free.
 *
 * @param served reads what the application serves, as far as its text says
 * @throws CompileError at the specifier that is refused
 */
export async function checkBrowserSide(
  facts: ModuleFacts,
  world: World,
  served?: () => Promise<Served | undefined>,
): Promise<BrowserSide> {
  const check = new BrowserCheck(facts, world, served ?? (async () => undefined));
  const removed: Span[] = [];
  for (const reference of readReferences(facts.program)) {
    if (!reference.isType) await check.reference(reference);
    else if (reference.leavesImport && (await check.isServerOnly(reference))) removed.push(reference.node);
  }
  const stubs = check.stubs;
  const serverModules = [...check.serverModules];
  if (removed.length === 0) return { stubs, serverModules };
  const text = new MagicString(facts.source.code);
  for (const { start, end } of removed) text.remove(start, end);
  const map = text.generateMap({ source: facts.source.file, includeContent: true, hires: "boundary" });
  return { stubs, serverModules, compiled: { code: text.toString(), map } };
}

class BrowserCheck {
  readonly stubs: StubUse[] = [];
  readonly serverModules = new Set<string>();
  private readonly facts: ModuleFacts;
  private readonly world: World;
  private readonly served: () => Promise<Served | undefined>;
  private known: Promise<Served | undefined> | undefined;

  constructor(facts: ModuleFacts, world: World, served: () => Promise<Served | undefined>) {
    this.facts = facts;
    this.world = world;
    this.served = served;
  }

  /** Answers whether a reference is to something that only the server has. */
  async isServerOnly(reference: Reference): Promise<boolean> {
    if (isServerDoor(reference.source)) return true;
    const id = await this.resolve(reference);
    return id !== undefined && isServerModule(fileOf(id));
  }

  async reference(reference: Reference): Promise<void> {
    const { source, at, kind } = reference;
    if (kind !== "url" && isServerDoor(source)) this.refuse(serverDoorSentence(source), at);
    if (kind !== "url" && source.startsWith("node:")) this.refuse(builtinSentence(source), at);
    const id = await this.resolve(reference);
    // A package of that name may stand in the place of Node's module: then it has a file.
    if (kind !== "url" && isBuiltin(source) && !isFile(id)) this.refuse(builtinSentence(source), at);
    if (id === undefined || !isServerModule(fileOf(id))) return;
    const file = fileOf(id);
    this.serverModules.add(file);
    this.checkForm(reference, id);
    for (const name of reference.names) if (!name.isType) await this.name(name, file);
  }

  /** Refuses the forms of import that take more than names of server functions. */
  private checkForm(reference: Reference, id: string): void {
    const file = this.display(fileOf(id));
    if (hasForeignQuery(id)) this.refuse(foreignQuerySentence(file, id), reference.at);
    const sentence = refusedForm(reference, file);
    if (sentence) this.refuse(sentence, reference.kind === "import" ? reference.node : reference.at);
  }

  private async name(taken: TakenName, file: string): Promise<void> {
    const shown = this.display(file);
    if (taken.name === "*") this.refuse(`${onlyFunctions(shown)}: name them, \`import { name } from …\`.`, taken.at);
    if (taken.name === "default") {
      this.refuse(
        `${shown} is a server module, and a server function has a name: \`import { name } from …\`.`,
        taken.at,
      );
    }
    const facts = await this.world.modules.other(file);
    // What is wrong with the server module itself is told at its own place.
    if (!facts) return;
    const origin = await originOf(file, taken.name, this.world);
    if (!origin || !isFunctionOf(origin, taken.name)) {
      return this.refuse(this.whyNot(taken.name, facts, origin !== undefined), taken.at);
    }
    const declaredIn = origin.facts.source.file;
    this.known ??= this.served();
    const served = await this.known;
    if (served && !served.has(declaredIn, taken.name)) {
      this.refuse(
        `"${taken.name}" is a server function of ${this.display(declaredIn)}, which the application does not serve: add that module to \`modules\` in ${served.entry}.`,
        taken.at,
      );
    }
    this.stubs.push({
      file: this.display(declaredIn),
      name: taken.name,
      importer: this.display(this.facts.source.file),
    });
  }

  private whyNot(name: string, facts: ModuleFacts, isFollowed: boolean): string {
    const shown = this.display(facts.source.file);
    const exported = facts.exports.named.find((each) => each.name === name);
    const mark = facts.marks.find((each) => each.name === name);
    if (exported?.isType) return `"${name}" is a type: write \`import type { ${name} }\`.`;
    if (mark && mark.kind !== "server") {
      return `"${name}" is a ${mark.kind} of ${shown}, which runs on the server alone: link to its path instead.`;
    }
    if (exported?.from && isFollowed && exported.from.name !== name) {
      return `"${name}" is "${exported.from.name}" under another name, and a server function has one: import "${exported.from.name}".`;
    }
    if (!exported) return `${shown} exports no server function "${name}".`;
    return (
      `"${name}" of ${shown} is not a server function, and nothing else of a server module reaches the browser: ` +
      "make it one, write `import type` if it is a type, or move it to a module of both sides."
    );
  }

  private async resolve({ kind, source }: Reference): Promise<string | undefined> {
    const importer = this.facts.source.file;
    const found = await this.world.resolve(source, importer);
    if (kind !== "url" || found) return found;
    // An address is relative to its module, with or without a dot in front.
    return posix.resolve(
      posix.dirname(importer),
      source.startsWith("/") ? `${this.world.modules.root}${source}` : source,
    );
  }

  private display(file: string): string {
    return relativeFile(file, this.world.modules.root);
  }

  private refuse(sentence: string, at: Span): never {
    throw new CompileError(sentence, this.facts.source, at);
  }
}

/** Answers whether an id is a file, and not a stand-in of the build tool's for a module that is not there. */
function isFile(id: string | undefined): boolean {
  return id !== undefined && (id.startsWith("/") || /^[a-z]:[\\/]/i.test(id));
}
