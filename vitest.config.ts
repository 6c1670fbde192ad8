import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files below tests/ that take longest, in the order in which they are started: first those that mostly wait, for
 * time limits and for downloads, so that other files run at the same time. All other files run after them.
 */
const SLOW_FILES = [
  "system/auth-runtimes",
  "compile/react-libraries",
  "mistakes/commands",
  "mistakes/development",
  "browser/accounts",
  "browser/accounts-interface",
  "dist/first-application",
  "system/dev-edits",
  "browser/chat-live",
  "dist/new",
  "fault/bus",
  "fault/restarts",
  "browser/board",
  "browser/dev-errors",
  "conformance/wire-hosts",
  "conformance/wire-mounted",
  "browser/chat",
  "browser/dev",
  "system/hostile-requests",
  "system/build",
  "system/workers",
  "system/imports",
  "system/dev-process",
  "dist/deploy",
  "dist/redis",
  "dist/nats",
  "browser/forms",
  "browser/live-proxy",
  "compile/register",
  "conformance/wire-dev",
  "conformance/wire-own",
  "fault/live-torture",
  "fault/live-stalled",
  "browser/auth-codes-and-links",
  "browser/passkeys",
  "system/starting-and-stopping",
  "browser/vite-plugins",
  "system/dev-files",
  "browser/forms-enhanced",
  "fault/live-memory",
  "fault/log-output",
  "conformance/bus",
] as const;

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = SLOW_FILES.findIndex((name) => moduleId.endsWith(`/tests/${name}.test.ts`));
      return index < 0 ? SLOW_FILES.length : index;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

/**
 * The folders below src/ whose modules keep no state of the process: no registry of applications, no log output, no page of
 * a browser. Their test files run one after the other in the same process.
 */
const WITHOUT_STATE = [
  "auth",
  "cli",
  "client",
  "compile",
  "files",
  "forms",
  "http",
  "openapi",
  "protocol",
  "rate-limit",
  "rpc",
  "session",
  "text",
  "bodies",
] as const;

/**
 * The tests of system/ that are in a process of their own: they import modules of src/ that keep state of the process, or
 * measure or mock the process itself. All others start the built application in other processes, so they run one after the
 * other in the same one, which loads Vitest, Playwright and the helpers once.
 */
const WITH_OWN_PROCESS = ["tests/conformance/**", "tests/fault/**", "tests/compile/growth.test.ts"];

/** The tests of src/adapters/ that run once more without the fast ways of src/adapters/fast/. */
const ORDINARY_HTTP = [
  "late-body",
  "node",
  "node-inbound-request",
  "pipelining",
  "rejected-requests",
  "response-sink",
  "static-file",
  "write-response",
] as const;

/** `npm run times` records what each file costs. */
const recording = process.env.TSWEB_TEST_TIMES === undefined ? {} : { setupFiles: ["tests/support/record-times.ts"] };

const unitTests = {
  ...recording,
  sequence: { groupOrder: 0 },
  expect: { poll: { timeout: 30_000 } },
  maxWorkers: 3, // on two cores: some files wait for time limits
  testTimeout: 60_000, // property-based tests take long on a busy machine
};

const systemTests = {
  ...recording,
  // Runs after the unit tests, because their failures are easier to understand.
  sequence: { groupOrder: 1 },
  globalSetup: ["tests/support/once-per-run.ts"],
  // Limits for a machine under load. Tests set no shorter ones.
  expect: { poll: { timeout: 60_000 } },
  testTimeout: 240_000,
  hookTimeout: 300_000,
  maxWorkers: 6, // on two cores: on average a file uses a third of one
};

export default defineConfig({
  test: {
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        test: {
          ...unitTests,
          name: "unit",
          include: ["src/**/*.test.ts"],
          exclude: WITHOUT_STATE.map((folder) => `src/${folder}/**`),
          pool: "threads", // a thread starts in less time than a process
        },
      },
      {
        test: {
          ...unitTests,
          name: "unit-ordinary-http",
          include: ORDINARY_HTTP.map((name) => `src/adapters/${name}.test.ts`),
          env: { TSWEB_ORDINARY_HTTP: "all" },
          pool: "threads",
        },
      },
      {
        test: {
          ...unitTests,
          name: "unit-without-state",
          include: WITHOUT_STATE.map((folder) => `src/${folder}/**/*.test.ts`),
          isolate: false, // half of the processor time
        },
      },
      {
        test: {
          ...systemTests,
          name: "system",
          include: ["tests/**/*.test.ts"],
          exclude: ["tests/**/fixtures/**", ...WITH_OWN_PROCESS],
          isolate: false, // saves 1 to 2 seconds of processor time per file
        },
      },
      {
        test: {
          ...systemTests,
          name: "system-isolated",
          include: WITH_OWN_PROCESS.map((path) => path.replace("**", "**/*.test.ts")),
          exclude: ["tests/**/fixtures/**"],
        },
      },
    ],
  },
});
