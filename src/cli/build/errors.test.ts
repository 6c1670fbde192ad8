import { describe, expect, it } from "vitest";
import { ProjectError } from "../../compile/index.ts";
import { BuildError } from "../project/index.ts";
import { explainBuildError } from "./index.ts";

const buildFailed = (...errors: readonly unknown[]) => Object.assign(new Error("Build failed"), { errors });

describe("explainBuildError", () => {
  it("names each mistake with its location, columns from 1, and its lines, without a stack", () => {
    const rejected = Object.assign(new Error("No rest parameter."), {
      plugin: "tsweb",
      id: "/app/src/a.server.ts",
      loc: { file: "/app/src/a.server.ts", line: 2, column: 25 },
      frame: "2  |  server((...x) => x)",
    });
    const unresolved = Object.assign(new Error("\u001b[31m[UNRESOLVED_IMPORT] \u001b[0mCould not resolve './b.ts'\n"), {
      kind: "UNRESOLVED_IMPORT",
      id: "/app/src/app.ts",
      loc: { file: "/app/src/app.ts", line: 3, column: 23 },
    });
    const explained = explainBuildError(buildFailed(rejected, unresolved), "/app");
    expect(explained).toBeInstanceOf(BuildError);
    expect(explained).toHaveProperty(
      "message",
      "src/a.server.ts:2:26\nNo rest parameter.\n\n2  |  server((...x) => x)\n\n" + "Could not resolve './b.ts'",
    );
  });

  it("names a mistake of the compile step that has no location by its message, without a stack", () => {
    const link = Object.assign(new ProjectError("public/a.txt is a link."), { plugin: "tsweb" });
    const explained = explainBuildError(buildFailed(link), "/app");
    expect(explained).toBeInstanceOf(BuildError);
    expect(explained).toHaveProperty("message", "public/a.txt is a link.");
  });

  it("returns a plugin's defect unchanged, with its stack, also beside a mistake", () => {
    const defect = Object.assign(new TypeError("x is not a function"), { plugin: "other", id: "/app/src/app.ts" });
    const mistake = new Error("[PARSE_ERROR] Unexpected token");
    for (const error of [buildFailed(defect), buildFailed(mistake, defect)])
      expect(explainBuildError(error, "/app")).toBe(error);
  });

  it.each([new Error("Disk full"), buildFailed(), "thrown text", undefined])(
    "returns an error unchanged that is not from a build: %s",
    (error) => {
      expect(explainBuildError(error, "/app")).toBe(error);
    },
  );
});
