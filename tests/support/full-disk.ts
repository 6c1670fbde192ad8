/**
 * A small file system in memory that a test fills.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { expect } from "vitest";

/** Mounts a file system in a folder. The caller unmounts it. @param size such as `2m` */
export function mountTmpfs(folder: string, size: string): void {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder], { stdio: "pipe" });
  } catch (error) {
    const message = "This test mounts a tmpfs to fill it. That requires root, or the capability CAP_SYS_ADMIN.";
    throw new Error(message, { cause: error });
  }
}

/** Unmounts a file system, which ends when its last file is closed. */
export function unmount(folder: string): void {
  execFileSync("umount", ["--lazy", folder]);
}

/** Writes a file until its disk is full. */
export function fillDisk(path: string): void {
  try {
    for (;;) writeFileSync(path, "x".repeat(4096), { flag: "a" });
  } catch (error) {
    expect(error).toMatchObject({ code: "ENOSPC" });
  }
}
