/**
 * The event of the window before edited components are rendered again, in development. A listener may prevent it, to reload
 * the page instead.
 */
export const VIEWS_UPDATE_EVENT = "tsweb:views-update";
