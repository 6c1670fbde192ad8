/** Returns how the page was loaded. A page has one entry of this kind; some old browsers have none. */
export function getNavigation(): PerformanceNavigationTiming | undefined {
  // Entries of this kind have this type.
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return navigation;
}
