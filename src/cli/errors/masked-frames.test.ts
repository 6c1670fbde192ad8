import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { explainError } from "./explain-error.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "tsweb-frames-")));
const file = join(root, "config.ts");
afterAll(() => rmSync(root, { recursive: true }));

/** Returns the frame that is printed for an error with this one, in a module with this line. */
function printedFrame(line: string, frame: string): string {
  writeFileSync(file, `${line}\n`);
  return explainError(Object.assign(new Error("x"), { frame, id: file, loc: { file, line: 1, column: 0 } }), root)
    .frame;
}

it("a frame whose secrets are masked is printed as it is", () => {
  const frame = '1  |  const emoji = "😀", key = "******";';
  expect(printedFrame('const emoji = "😀", key = "secret";', frame)).toBe(frame);
});

it("a frame of compiled code, or of an earlier version, is replaced by the lines of the source", () => {
  for (const frame of [
    '1  |  const key = "******" + 1;',
    '1  |  const kez = "******";',
    '1  |  const key = "*******";',
  ]) {
    expect(printedFrame('const key = "secret";', frame)).toContain('const key = "secret";');
  }
});
