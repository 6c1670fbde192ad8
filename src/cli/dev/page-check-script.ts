import { REQUEST_ID_HEADER, VIEWS_UPDATE_EVENT } from "../../protocol/index.ts";
import { PAGE_CHECK_EVENT } from "./server/index.ts";

/**
 * The third part of the script of a page. It requests the page in the background after an edit of a view. Such an edit updates the page in place, without the server, so the server has neither rendered the edited view nor
 * checked the forms of the page.
 *
 * The page is not requested if the edit has caused an error in the browser: the overlay shows it.
 */
export const CHECK_PAGE = `
let checks = 0;

const checkPage = async () => {
  const check = ++checks;
  const response = await requestPage();
  // A later edit may have fixed the error.
  if (response?.status === 500 && check === checks) {
    hot.send("${PAGE_CHECK_EVENT}", { id: response.headers.get("${REQUEST_ID_HEADER}") });
  }
};

addEventListener("${VIEWS_UPDATE_EVENT}", (event) => {
  // Preact renders the update before the next task, and its errors are reported in the task after that.
  setTimeout(() => setTimeout(() => event.defaultPrevented || hasOverlay || held.size > 0 || checkPage()));
});
hot.on("${PAGE_CHECK_EVENT}", checkPage);
`;
