import { channel, page } from "tsweb";
import type { ChangedPart } from "../../panel-data.ts";
import { CHANGES, host } from "./host.server.ts";
import { Panel } from "./panel.tsx";

export const home = page("/", async () => {
  // The feed first: what changes later is notified.
  const feed = await channel<readonly ChangedPart[]>(CHANGES);
  const application = await host.application();
  return <Panel feed={feed} application={application} requests={host.requests(0)} live={host.live()} />;
});
