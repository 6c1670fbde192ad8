import { describe, expect, it } from "vitest";
import { newUsage, parseNewArguments } from "./arguments.ts";

const parse = (...args: string[]) => parseNewArguments(args, "tsweb new", {});
const minimal = { folder: "shop", template: "minimal", install: true, deploy: false };

describe("parseNewArguments", () => {
  it("uses the template minimal and installs, by default", () => {
    expect(parse("shop")).toEqual(minimal);
  });

  it.each([
    [["shop", "--template", "board", "--no-install"]],
    [["--template=board", "--no-install", "shop"]],
    [["--no-install", "-t", "board", "shop"]],
    [["--", "shop", "--template", "board", "--no-install"]],
    [["shop", "--", "--template", "board", "--no-install"]],
  ])("reads the options in %j", (args) => {
    expect(parse(...args)).toEqual({ folder: "shop", template: "board", install: false, deploy: false });
  });

  it("adds the files of a deployment to a new project, or to that in the current folder if none is named", () => {
    expect(parse("shop", "--deploy")).toEqual({ ...minimal, deploy: true });
    expect(parse("--deploy", "--", "shop")).toEqual({ ...minimal, deploy: true });
    expect(parse("--deploy")).toBe("deployment");
    // These options are for new projects.
    for (const option of ["--template=board", "--no-install"]) {
      expect(() => parse("--deploy", option)).toThrow("tsweb new requires the folder to create.");
    }
  });

  it("returns null when the arguments request the help text", () => {
    expect(parse("--help")).toBeNull();
    expect(parse("shop", "-h")).toBeNull();
  });

  it.each([
    [[], "tsweb new requires the folder to create. For example: tsweb new shop\n"],
    [["--template", "chat"], "selects a template: minimal, accounts, board, chat. The default is minimal."],
    [
      ["my", "shop"],
      "Too many arguments for tsweb new: shop. It takes one folder. Quote a name that contains a space.",
    ],
    [
      ["shop", "--template", "bord"],
      'Unknown template "bord". Did you mean board? Valid templates: minimal, accounts, board, chat.',
    ],
    [["shop", "--template", "react"], 'Unknown template "react". Valid templates: minimal, accounts, board, chat.'],
    [["shop", "--template", "toString"], 'Unknown template "toString". Valid templates: '],
    [["shop", "--templat", "board"], "Unknown option '--templat'.\n\ntsweb new <folder>: create a project"],
    [["shop", "--template"], "Option '-t, --template <value>' argument missing.\n\ntsweb new <folder>"],
    [[" "], '" " cannot be the name of a folder.'],
  ])("rejects %j with the fix", (args, message) => {
    expect(() => parse(...args)).toThrow(message);
  });

  it("rejects an option that npm has kept for itself, and shows where the -- belongs", () => {
    const command = "npm create tsweb@latest";
    const env = { npm_config_template: "true" };
    expect(() => parseNewArguments(["shop", "board"], command, env)).toThrow(
      "Write -- in front of it: npm create tsweb@latest shop -- --template board",
    );
    expect(parseNewArguments(["shop", "--template=minimal"], command, env)).toEqual(minimal);
    expect(() => parseNewArguments(["shop"], command, { npm_config_deploy: "true" })).toThrow(
      "npm has read --deploy as an option of npm. Write -- in front of it: npm create tsweb@latest shop -- --deploy",
    );
  });
});

describe("newUsage", () => {
  it("lists all templates, and writes the options as the command takes them", () => {
    for (const name of ["minimal", "accounts", "board", "chat"]) expect(newUsage("tsweb new")).toMatch(`  ${name} `);
    expect(newUsage("tsweb new")).toContain("\n  tsweb new shop --template board\n");
    expect(newUsage("npm create tsweb@latest")).toContain("\n  npm create tsweb@latest shop -- --template board\n");
  });
});
