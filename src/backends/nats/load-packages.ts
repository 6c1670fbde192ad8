import { ConfigError } from "../../config/index.ts";

/** The functions that are used of the NATS client packages. */
export interface NatsPackages {
  readonly connect: typeof import("@nats-io/transport-node")["connect"];
  readonly createInbox: typeof import("@nats-io/transport-node")["createInbox"];
  readonly jetstream: typeof import("@nats-io/jetstream")["jetstream"];
  readonly jetstreamManager: typeof import("@nats-io/jetstream")["jetstreamManager"];
}

/**
 * Loads the NATS client packages, optional peer dependencies: only applications that use NATS install them.
 *
 * @throws ConfigError with the install command if they cannot be loaded
 */
export async function loadNatsPackages(): Promise<NatsPackages> {
  try {
    const [{ connect, createInbox }, { jetstream, jetstreamManager }] = await Promise.all([
      import("@nats-io/transport-node"),
      import("@nats-io/jetstream"),
    ]);
    return { connect, createInbox, jetstream, jetstreamManager };
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new ConfigError([
      {
        variable: "WEB_BUS_URL",
        problem: `names a NATS server, but the NATS client packages could not be loaded (${reason}).`,
        fix: "Install them in the application, then build the application again: npm install @nats-io/transport-node @nats-io/jetstream",
      },
    ]);
  }
}
