/** Returns how the page was loaded. A page has one entry of this kind; some old browsers have none. */
export function getNavigation(): PerformanceNavigationTiming | undefined {
  return performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming | undefined; // the type of this kind
}
