import { publish } from "tsweb";
import { PANEL_HOST, type PanelHost } from "../../panel-data.ts";

/** The channel that notifies the pages of the panel which parts of its data have changed. */
export const CHANGES = "changes";

/** What the development server provides. It sets the property before it loads this application. */
export const host = Reflect.get(globalThis, Symbol.for(PANEL_HOST)) as PanelHost;

host.onChange((parts) => void publish(CHANGES, parts));
