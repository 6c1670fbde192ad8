import { PAGE_DATA_SELECTOR, type PageData } from "../protocol/index.ts";

let pageData: PageData | undefined;

/**
 * Returns the data that the server wrote into the page. It is read on first use, because the server, which has no
 * document, also imports this module.
 *
 * The first script element with the id counts. The server writes it before all content of the application, so
 * injected HTML cannot replace it.
 */
export function getPageData(): PageData {
  // Every page with scripts of tsweb has this element.
  // biome-ignore lint/suspicious/noAssignInExpressions: shorter in the browser
  return (pageData ??= JSON.parse((document.querySelector(PAGE_DATA_SELECTOR) as Element).textContent) as PageData);
}
