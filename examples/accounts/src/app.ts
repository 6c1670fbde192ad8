import { App } from "tsweb";
import * as accounts from "./accounts.server.ts";
import * as address from "./address/address.server.ts";
import * as addressPages from "./address/pages.server.tsx";
import * as codes from "./codes/codes.server.ts";
import * as codePages from "./codes/pages.server.tsx";
import { ErrorPage, Layout } from "./layout.server.tsx";
import * as links from "./links/links.server.ts";
import * as linkPages from "./links/pages.server.tsx";
import * as pages from "./pages.server.tsx";
import * as passkeyPages from "./passkeys/pages.server.tsx";
import * as passkeys from "./passkeys/passkeys.server.ts";
import * as passwordPages from "./passwords/pages.server.tsx";
import * as passwords from "./passwords/passwords.server.ts";
import * as providerPages from "./providers/pages.server.tsx";
import "./style.css";

/** The application. It serves the functions and pages that these modules export, and nothing else. */
export default new App({
  title: "Accounts",
  layout: Layout,
  error: ErrorPage,
  sign_in: "/",
  strict: true,
  modules: [
    ...[accounts, pages, passkeys, passkeyPages, codes, codePages, links, linkPages],
    ...[providerPages, passwords, passwordPages, address, addressPages],
  ],
});
