/**
 * The event of the window before edited components are rendered again, in development. A listener may prevent it, to reload
 * the page instead.
 */
export const VIEWS_UPDATE_EVENT = "tsweb:views-update";

/**
 * The event of the window when a view could not be hydrated, or renders other markup than the server did, in development. Its
 * `detail` is a function that reports the problem. A listener that prevents the event reports it later, or reloads the page.
 */
export const HYDRATION_PROBLEM_EVENT = "tsweb:hydration-problem";
