/**
 * An image of a Dockerfile without Docker: its instructions are run in folders of this machine, one for each stage. The base
 * image is this machine, and the files of the result can only be read.
 */
import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { DockerfileParser, type Instruction, type ModifiableInstruction } from "dockerfile-ast";

const execute = promisify(execFile);

/** The last stage of a Dockerfile. */
export interface Image {
  /** The folder of this machine that is the working folder of the image. */
  readonly dir: string;
  /** The id of the user that the program runs as. */
  readonly user: number;
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

/** A stage: its root is a folder of this machine. */
interface Stage {
  readonly root: string;
  dir: string;
  user: number;
  command: readonly string[];
  healthcheck: readonly string[];
}

/**
 * Runs the instructions of a project's Dockerfile.
 *
 * @param context the folder of the project
 * @param target an empty folder for the stages
 * @throws Error for an instruction that is not supported here, or fails
 */
export async function buildImage(context: string, target: string): Promise<Image> {
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const instruction of DockerfileParser.parse(
    readFileSync(join(context, "Dockerfile"), "utf8"),
  ).getInstructions()) {
    const args = instruction.getArguments().map((argument) => argument.getValue());
    if (instruction.getKeyword() === "FROM") {
      const root = join(target, String(stages.size));
      stage = { root, dir: root, user: 0, command: [], healthcheck: [] };
      stages.set(args[2] ?? root, stage);
    } else {
      if (!stage) throw new Error("The Dockerfile does not begin with FROM.");
      await runInstruction(instruction, { stage, stages, context, args });
    }
  }
  if (!stage) throw new Error("The Dockerfile has no stage.");
  makeReadOnly(stage.root);
  return stage;
}

interface InstructionContext {
  readonly stage: Stage;
  readonly stages: ReadonlyMap<string, Stage>;
  readonly context: string;
  readonly args: readonly string[];
}

async function runInstruction(
  instruction: Instruction,
  { stage, stages, context, args }: InstructionContext,
): Promise<void> {
  const text = instruction.getRawArgumentsContent() ?? "";
  switch (instruction.getKeyword()) {
    case "WORKDIR":
      stage.dir = join(stage.root, args[0] ?? "");
      mkdirSync(stage.dir, { recursive: true });
      return;
    case "COPY": {
      const from = flagOf(instruction, "from");
      const source = from === undefined ? context : stages.get(from)?.root;
      if (source === undefined) throw new Error(`COPY: there is no stage ${from}.`);
      return copy(args, { source, target: stage.dir, ignored: from === undefined ? ignoredBy(context) : () => false });
    }
    case "RUN":
      return runCommand(text, stage.dir);
    case "USER":
      stage.user = Number(args[0]);
      return;
    case "CMD":
      stage.command = JSON.parse(text);
      return;
    case "HEALTHCHECK":
      stage.healthcheck = JSON.parse(text.slice(text.indexOf("[")));
      return;
    case "EXPOSE":
      return;
    default:
      throw new Error(`${instruction.getKeyword()} is not supported by this test.`);
  }
}

function flagOf(instruction: Instruction, name: string): string | undefined {
  const flags = (instruction as ModifiableInstruction).getFlags(); // COPY has flags
  return flags.find((flag) => flag.getName() === name)?.getValue() ?? undefined;
}

interface CopyOptions {
  readonly source: string;
  readonly target: string;
  readonly ignored: (name: string) => boolean;
}

/** Copies files and the contents of folders, as COPY does. Patterns may match nothing, names have to exist. */
function copy(args: readonly string[], { source, target, ignored }: CopyOptions): void {
  const sources = args.slice(0, -1);
  const to = join(target, args.at(-1) ?? "");
  for (const each of sources) {
    const isPattern = /[*?[]/.test(each);
    const names = isPattern ? readdirSync(source).filter((name) => toPattern(each).test(name)) : [each];
    for (const name of names.filter((name) => !ignored(name))) {
      const path = join(source, name);
      const filter = (file: string) => file === path || !ignored(file.slice(source.length + 1));
      const isFolder = statSync(path).isDirectory();
      cpSync(path, isFolder || !args.at(-1)?.endsWith("/") ? to : join(to, basename(path)), {
        recursive: true,
        filter,
      });
    }
  }
}

/** Returns which names in the folder of a project a .dockerignore excludes. It has names and `*` only. */
function ignoredBy(context: string): (name: string) => boolean {
  const lines = readFileSync(join(context, ".dockerignore"), "utf8").split("\n");
  const patterns = lines.filter((line) => line !== "" && !line.startsWith("#")).map(toPattern);
  return (name) => patterns.some((pattern) => pattern.test(name));
}

function toPattern(text: string): RegExp {
  const pattern = text.replace(/[.+^${}()|]/g, "\\$&").replaceAll("*", "[^/]*");
  return new RegExp(`^${pattern}(/|$)`);
}

async function runCommand(command: string, cwd: string): Promise<void> {
  // The variables of the test runner are not those of an image.
  const { NODE_ENV: _env, VITEST: _vitest, NODE_OPTIONS: _options, ...env } = process.env;
  try {
    await execute("/bin/sh", ["-c", command], { cwd, env, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string }; // execFile's own fields
    throw new Error(`RUN ${command} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** Removes the permission to write from a folder, and lets every user read it. */
function makeReadOnly(folder: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  for (const name of names.reverse()) {
    const path = join(folder, name);
    chmodSync(path, statSync(path).isDirectory() ? 0o555 : 0o444);
  }
  chmodSync(folder, 0o555);
}
