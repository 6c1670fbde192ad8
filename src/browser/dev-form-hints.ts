/**
 * The check of forms after an edit, in development. The server checks the forms of a page while it renders it, and shows in
 * the terminal which fields are missing or are no parameter. An edit of a view updates the page in place, without the
 * server, so a page with forms of server functions is rendered there once more.
 */
import { FORM_PARAMETER, VIEWS_UPDATE_EVENT } from "../protocol/index.ts";

/** The forms of server functions. */
const FORMS = `form[action*="${FORM_PARAMETER}="]`;

// Unit tests have no window.
globalThis.addEventListener?.(VIEWS_UPDATE_EVENT, (event) => {
  // Preact renders the update before the next task.
  setTimeout(() => {
    if (event.defaultPrevented || !document.querySelector(FORMS)) return;
    // The terminal shows an error of the page. Without a server, Vite's client shows that it has lost the connection.
    fetch(location.href, { headers: { accept: "text/html" } }).catch(() => {});
  });
});
