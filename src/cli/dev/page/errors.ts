/**
 * The script that each page of the development server loads before all others of the application. It reports uncaught
 * errors, reloads outdated pages, and requests the page in the background after an edit of a view. Such an edit updates the
 * page in place, without the server, so the server has neither rendered the edited view nor checked the forms of the page.
 *
 * The page is not requested if the edit has caused an error in the browser: the overlay shows it.
 */
import { PAGE_CHECK_EVENT, REQUEST_ID_HEADER, VIEWS_UPDATE_EVENT } from "../../../protocol/index.ts";
import { hasErrors, requestPage } from "./error-reports.ts";
import { hot } from "./hot.ts";
import "./outdated-page.ts";

let checks = 0;

async function checkPage(): Promise<void> {
  const check = ++checks;
  const response = await requestPage();
  // A later edit may have fixed the error.
  if (response?.status === 500 && check === checks) {
    hot.send(PAGE_CHECK_EVENT, { id: response.headers.get(REQUEST_ID_HEADER) });
  }
}

addEventListener(VIEWS_UPDATE_EVENT, (event) => {
  // Preact renders the update before the next task, and its errors are reported in the task after that.
  setTimeout(() => setTimeout(() => event.defaultPrevented || hasErrors() || checkPage()));
});
hot.on(PAGE_CHECK_EVENT, checkPage);
