import { ConfigError } from "../../config/index.ts";

/** What of the packages that talk to NATS is used. */
export interface NatsPackages {
  readonly connect: typeof import("@nats-io/transport-node")["connect"];
  readonly createInbox: typeof import("@nats-io/transport-node")["createInbox"];
  readonly jetstream: typeof import("@nats-io/jetstream")["jetstream"];
  readonly jetstreamManager: typeof import("@nats-io/jetstream")["jetstreamManager"];
}

/**
 * Loads the client for NATS, which applications install only when they use it.
 *
 * @throws ConfigError that says to install it, when it cannot be loaded
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
        problem: `names a NATS server, and the packages that talk to it could not be loaded (${reason}).`,
        mend: "Install them in the application, and build that again: npm install @nats-io/transport-node @nats-io/jetstream",
      },
    ]);
  }
}
