import { describe, expect, it } from "vitest";
import { rotationWarnings, secretFingerprints } from "./keys.ts";

const secretOf = (byte: number) => new Uint8Array(32).fill(byte);
const [A, B, C] = [secretOf(1), secretOf(2), secretOf(3)];

/** Returns the first words of each note for an environment, while processes with other environments run. */
function notesFor(secrets: readonly Uint8Array[], ...running: readonly (readonly Uint8Array[])[]): string[] {
  const stored = new Set(running.flatMap(secretFingerprints));
  return rotationWarnings(secrets, [...stored]).map((note) => note.split(" ").slice(0, 3).join(" "));
}

describe("the notes about a change of the secret", () => {
  it.each<[string, readonly Uint8Array[], readonly (readonly Uint8Array[])[]]>([
    ["no process has started", [A], []],
    ["nothing changes", [A], [[A]]],
    ["an old secret is removed after a change", [B], [[B, A]]],
    ["the first phase starts", [A, B], [[A]]],
    ["the first phase is complete", [A, B], [[A, B]]],
    ["the second phase starts", [B, A], [[A, B]]],
    [
      "the second phase is deployed to some processes",
      [B, A],
      [
        [A, B],
        [B, A],
      ],
    ],
    ["the second phase is complete", [B, A], [[B, A]]],
  ])("are none when %s", (_when, secrets, running) => {
    expect(notesFor(secrets, ...running)).toEqual([]);
  });

  it("report a new secret that no running process accepts", () => {
    expect(notesFor([B, A], [A])).toEqual(["WEB_AUTH_SECRET is unknown"]);
  });

  it("report that the secret is missing with which running processes sign", () => {
    expect(notesFor([B], [A, B])).toEqual(["WEB_AUTH_SECRET_PREVIOUS lacks a"]);
    expect(notesFor([C, B], [A, B])).toEqual(["WEB_AUTH_SECRET is unknown", "WEB_AUTH_SECRET_PREVIOUS lacks a"]);
  });

  it("report a second phase that some processes have not reached when the old secret is about to be removed", () => {
    expect(notesFor([B], [A, B], [B, A])).toEqual(["WEB_AUTH_SECRET_PREVIOUS lacks a"]);
  });

  it("contain no secret and no fingerprint", () => {
    const text = rotationWarnings([C, B], secretFingerprints([A, B])).join();
    for (const part of [...secretFingerprints([A]), Buffer.from(C).toString("hex")]) expect(text).not.toContain(part);
  });
});
