/** The header that carries the CSRF token, in a call and in a response that brings a fresh token. */
export const CSRF_HEADER = "x-csrf-token";
