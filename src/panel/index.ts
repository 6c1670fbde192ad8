/**
 * The panel of the development server: what it records and how it is redacted. The pages of the panel are an application
 * of their own, in panel/.
 */

export { PANEL_HOST } from "./panel-data.ts";
export { DevelopmentPanel } from "./panel-host.ts";
