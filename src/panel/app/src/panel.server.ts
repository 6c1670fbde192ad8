import { request, server } from "tsweb";
import { host } from "./host.server.ts";

/** Returns the routes and functions of the application. */
export const getApplication = server(() => host.application());

/** Returns the requests that are new or have changed since a version. */
export const getRequests = server((since: number) => host.requests(since));

export const clearRequests = server(() => host.clearRequests());

/** Returns the live connections and the latest messages. */
export const getLive = server(() => host.live());

export const clearMessages = server(() => host.clearMessages());

/** Returns the CSRF token for a call of this client; `null` if the application requires none. */
export const getCsrfToken = server(() => host.csrfToken(request.headers.cookie));
