import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files below tests/ that take longest (`npm run times` prints it), in the order in which they are started, so that none of
 * them is left when all others have ended. All other files run after them.
 */
const SLOW_FILES = [
  "fault/presence",
  "fault/torture",
  "conformance/mixed-versions",
  "mistakes/development",
  "compile/react-libraries",
  "system/workers",
  "mistakes/commands",
  "fault/pipelining",
  "browser/accounts",
  "browser/dev",
  "system/starting-and-stopping",
  "dist/new",
  "system/build",
  "browser/vite-plugins",
  "browser/chat-live",
  "fault/restarts",
  "dist/first-application",
  "browser/board",
  "conformance/wire-hosts",
  "system/dev-edits",
  "system/dev-files",
  "browser/chat",
  "fault/clusters",
  "fault/live-stalled",
  "engines/engines",
  "conformance/unit-newest",
  "browser/accounts-interface",
  "compile/register",
  "system/dev-process",
  "fault/log-output",
  "browser/auth-codes-and-links",
  "browser/passkeys",
  "browser/panel",
  "conformance/bus-nats",
  "browser/live-proxy",
  "fault/live-torture",
  "fault/query-torture",
  "fault/query-torture-faults",
  "browser/live-client-app",
  "system/scripts-and-openapi",
  "fault/nats-cluster",
  "dist/deploy",
  "fault/live-memory",
  "conformance/wire-dev",
  "system/commands",
  "system/imports",
  "browser/deployment",
  "system/dev-config",
  "browser/forms",
  "system/signing-out",
  "conformance/wire-mounted",
  "compile/server-only",
  "fault/bus",
  "system/hostile-requests",
  "fault/streams",
  "system/allocations",
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
 * The folders below src/ whose tests depend on no state of the process: not on the registry of applications, the log output or the
 * page of a browser. Their test files run one after the other in the same process.
 */
const IN_ONE_PROCESS = [
  "adapters",
  "backends",
  "server",
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
  "config",
  "revocation",
  "testing",
  "logging",
  "pages",
  "panel",
  "limits",
  "observe",
] as const;

/**
 * The tests that install a bus for all applications of the process, replace modules of Node or what belongs to a page, or count
 * the timers of the process. They run in the same process too, each with modules of its own.
 */
const WITH_OWN_MODULES = [
  "*",
  "browser/**/*",
  "live/**/*",
  "backends/bus/publish-queue",
  "backends/bus/retry-policy",
  "backends/memory/bus",
  "backends/redis/client/reply-timeout",
  "backends/redis/fallback-rate-store",
  "compile/rules/other-frameworks",
  "config/development-secret",
  "limits/limit",
  "logging/app-log",
  "observe/metrics*",
  "observe/publish-failures",
  "panel/panel-host",
  "rpc/handle-stream",
  "rpc/time-limit",
  "server/health",
  "server/revocations-shared",
  "server/stop-hook",
].map((name) => `src/${name}.test.ts`);

/**
 * The tests that depend on how V8 has compiled what ran before, register an implementation of OpenTelemetry, or load preact/compat,
 * which changes the attributes of all markup. Each runs in a thread, which starts in less time than a process.
 */
const WITH_OWN_STATE = ["observe/tracing*", "protocol/element-types", "session/payload"].map(
  (name) => `src/${name}.test.ts`,
);

/**
 * The tests below tests/ that are in a process of their own: they mock modules of Node, measure the process itself, or install a bus
 * or the globals of a page for all applications of the process. All others run one after the other in the same process, which loads
 * Vitest, Playwright and the helpers once.
 */
const WITH_OWN_PROCESS = [
  "compile/growth",
  "conformance/auth-equal-work",
  "conformance/mixed-versions",
  "fault/torture",
].map((name) => `tests/${name}.test.ts`);

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
const recording = process.env.TSWEB_TEST_TIMES === undefined ? [] : ["tests/support/record-times.ts"];

const unitTests = {
  setupFiles: recording,
  sequence: { groupOrder: 0 },
  expect: { poll: { timeout: 30_000 } },
  maxWorkers: 3, // on two cores: some files wait for time limits
  testTimeout: 60_000, // property-based tests take long on a busy machine
};

const systemTests = {
  setupFiles: recording,
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
    // Each project transforms modules by itself: those of src/ up to five times without this.
    experimental: { fsModuleCache: true },
    projects: [
      {
        test: {
          ...unitTests,
          name: "unit",
          include: WITH_OWN_STATE,
          pool: "threads",
        },
      },
      {
        test: {
          ...unitTests,
          name: "unit-ordinary-http",
          include: ORDINARY_HTTP.map((name) => `src/adapters/${name}.test.ts`),
          env: { TSWEB_ORDINARY_HTTP: "all" },
          isolate: false,
        },
      },
      {
        test: {
          ...unitTests,
          name: "unit-in-one-process",
          include: IN_ONE_PROCESS.map((folder) => `src/${folder}/**/*.test.ts`),
          exclude: [...WITH_OWN_MODULES, ...WITH_OWN_STATE],
          isolate: false, // half of the processor time
        },
      },
      {
        test: {
          ...unitTests,
          name: "unit-own-modules",
          include: WITH_OWN_MODULES,
          setupFiles: [...recording, "tests/support/own-modules.ts"],
          isolate: false, // two thirds of the processor time
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
          include: WITH_OWN_PROCESS,
        },
      },
    ],
  },
});
