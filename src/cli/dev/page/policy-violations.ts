/**
 * The script that shows violations of the content security policy in the console. It requests the messages since the page was
 * opened: the browser has reported violations in its markup before.
 */
import { VIOLATIONS_EVENT } from "../../../protocol/index.ts";
import { hot } from "./hot.ts";

/** The messages about the violations of a page. */
interface Violations {
  readonly path: string;
  readonly messages: readonly string[];
}

const shown = new Set<string>();

hot.on(VIOLATIONS_EVENT, ({ path, messages }: Violations) => {
  if (path !== location.pathname) return;
  for (const message of messages) {
    if (!shown.has(message)) console.error(message);
    shown.add(message);
  }
});
hot.send(VIOLATIONS_EVENT, { path: location.pathname, since: performance.timeOrigin });
