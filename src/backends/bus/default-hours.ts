/** How long a bus stores messages by default, in hours: half an hour longer than a feed is valid at most. */
export const DEFAULT_HOURS = 24.5;
