import type fs from "node:fs";
import type os from "node:os";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { developmentSecret } from "./secrets.ts";

/** The machine that the mocked functions of Node describe. `null`: the function throws. */
const machine: { hostname: string; machineId: string | null; user: string | null; uid: number } = {
  hostname: "",
  machineId: "",
  user: "",
  uid: 0,
};

vi.mock("node:os", async (importOriginal) => {
  const original = await importOriginal<typeof os>();
  const userInfo = () => ({ username: orThrow(machine.user) });
  return { ...original, hostname: () => machine.hostname, userInfo };
});
vi.mock("node:fs", async (importOriginal) => {
  const original = await importOriginal<typeof fs>();
  return {
    ...original,
    readFileSync: (path: string, ...rest: [BufferEncoding]) =>
      path === "/etc/machine-id" ? `${orThrow(machine.machineId)}\n` : original.readFileSync(path, ...rest),
  };
});

function orThrow(value: string | null): string {
  if (value === null) throw new Error("ENOENT");
  return value;
}

const secretOf = (changes: Partial<typeof machine> = {}, projectDir = "/home/ada/shop") => {
  Object.assign(machine, { hostname: "laptop", machineId: "0a1b", user: "ada", uid: 1000 }, changes);
  return Buffer.from(developmentSecret(projectDir)).toString("hex");
};

beforeEach(() => {
  vi.spyOn(process, "getuid").mockImplementation(() => machine.uid);
});

describe("developmentSecret", () => {
  it("has 32 bytes and is the same after a restart, for the same directory in any notation", () => {
    expect(secretOf()).toMatch(/^[0-9a-f]{64}$/);
    expect(secretOf()).toBe(secretOf());
    expect(secretOf({}, "/home/ada/x/../shop/")).toBe(secretOf());
  });

  it.each([
    ["name of the machine", { hostname: "server" }],
    ["id of the machine", { machineId: "0a1c" }],
    ["user", { user: "grace" }],
  ])("differs by the %s [SESSION-41]", (_, changes) => {
    expect(secretOf(changes)).not.toBe(secretOf());
  });

  it("differs by the directory of the project [SESSION-42]", () => {
    expect(secretOf({}, "/home/ada/shop2")).not.toBe(secretOf());
  });

  it("does not confuse one part with another", () => {
    expect(secretOf({ hostname: "a", machineId: "b" })).not.toBe(secretOf({ hostname: "ab", machineId: "" }));
    expect(secretOf({ hostname: "a", user: "b" })).not.toBe(secretOf({ hostname: "b", user: "a" }));
  });

  it("exists without an id of the machine", () => {
    expect(secretOf({ machineId: null })).toMatch(/^[0-9a-f]{64}$/);
    expect(secretOf({ machineId: null, hostname: "server" })).not.toBe(secretOf({ machineId: null }));
  });

  it("is derived from the user's number if the user has no name", () => {
    expect(secretOf({ user: null, uid: 1001 })).not.toBe(secretOf({ user: null, uid: 1002 }));
  });
});
