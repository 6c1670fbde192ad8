import { describe, expect, it } from "vitest";
import { explainBuild } from "./build-errors.ts";
import { BuildError } from "./project.ts";

const failed = (...errors: readonly unknown[]) => Object.assign(new Error("Build failed"), { errors });

describe("explainBuild", () => {
  it("says each mistake with its place, columns from 1, its lines, and no stack", () => {
    const refused = Object.assign(new Error("No rest parameter."), {
      plugin: "tsweb",
      id: "/app/src/a.server.ts",
      loc: { file: "/app/src/a.server.ts", line: 2, column: 25 },
      frame: "2  |  server((...x) => x)",
    });
    const unresolved = Object.assign(new Error("[UNRESOLVED_IMPORT] Could not resolve './b.ts'\n"), {
      id: "/app/src/app.ts",
      loc: { file: "/app/src/app.ts", line: 3, column: 23 },
    });
    const told = explainBuild(failed(refused, unresolved), "/app");
    expect(told).toBeInstanceOf(BuildError);
    expect((told as BuildError).message).toBe(
      "src/a.server.ts:2:26\nNo rest parameter.\n\n2  |  server((...x) => x)\n\n" +
        "[UNRESOLVED_IMPORT] Could not resolve './b.ts'",
    );
  });

  it("gives a plugin's defect back as it came, its stack with it, also beside a mistake", () => {
    const defect = Object.assign(new TypeError("x is not a function"), { plugin: "other", id: "/app/src/app.ts" });
    const mistake = new Error("[PARSE_ERROR] Unexpected token");
    for (const error of [failed(defect), failed(mistake, defect)]) expect(explainBuild(error, "/app")).toBe(error);
  });

  it.each([new Error("Disk full"), failed(), "thrown text", undefined])(
    "gives what is no build's back: %s",
    (error) => {
      expect(explainBuild(error, "/app")).toBe(error);
    },
  );
});
