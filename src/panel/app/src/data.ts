import type { ApplicationInfo, ChangedPart, LiveInfo, RequestChanges, RequestEntry } from "../../panel-data.ts";
import { getApplication, getLive, getRequests } from "./panel.server.ts";

/** What the panel shows. */
export interface Shown {
  application: ApplicationInfo;
  requests: readonly RequestEntry[];
  /** The version of the requests. */
  version: number;
  live: LiveInfo;
}

/** Returns the requests with those that are new or have changed, without those that were removed; oldest first. */
function mergeRequests(
  requests: readonly RequestEntry[],
  { firstId, entries }: RequestChanges,
): readonly RequestEntry[] {
  const byId = new Map([...requests, ...entries].map((entry) => [entry.id, entry]));
  return [...byId.values()].filter(({ id }) => id >= firstId).sort((one, other) => one.id - other.id);
}

/** How long to wait after a call that failed. */
const RETRY_MS = 1_000;

/**
 * Returns a function that loads parts of the data again, one after the other: an older answer never replaces a newer one.
 * A part that could not be loaded is loaded again: there may be no further change that would show what is missing.
 */
export function createRefresh(shown: Shown): (parts: readonly ChangedPart[]) => Promise<void> {
  const due = new Set<ChangedPart>();
  let isLoading = false;
  return async (parts) => {
    for (const part of parts) due.add(part);
    if (isLoading) return;
    isLoading = true;
    for (let [part] = due; part !== undefined; [part] = due) {
      due.delete(part);
      try {
        await load(part, shown);
      } catch (error) {
        due.add(part);
        console.error(error);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    isLoading = false;
  };
}

async function load(part: ChangedPart, shown: Shown): Promise<void> {
  switch (part) {
    case "application":
      shown.application = await getApplication();
      return;
    case "live":
      shown.live = await getLive();
      return;
    case "requests": {
      const changes = await getRequests(shown.version);
      shown.requests = mergeRequests(shown.requests, changes);
      shown.version = changes.version;
    }
  }
}
