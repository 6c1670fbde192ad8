/**
 * Faster hashes of passwords in the process of an application, for tests of applications in which users sign in. The
 * hashes themselves are tested in src/auth and in tests/system/auth-runtimes.test.ts.
 */

/**
 * Returns the environment variables of a process whose PBKDF2 has fewer iterations than the code asks for. Other processes
 * cannot verify its hashes.
 *
 * @param factor the number by which the iterations are divided
 */
export function fasterHashing(factor = 1_000): Readonly<Record<"NODE_OPTIONS", string>> {
  const code = `
    import crypto from "node:crypto";
    import { syncBuiltinESMExports } from "node:module";
    const { pbkdf2 } = crypto;
    crypto.pbkdf2 = (password, salt, iterations, ...rest) =>
      pbkdf2(password, salt, Math.ceil(iterations / ${factor}), ...rest);
    syncBuiltinESMExports();`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}
