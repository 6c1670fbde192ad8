import { App } from "tsweb";
import * as cards from "./board/cards.server.ts";
import * as boardPages from "./board/pages.server.tsx";
import { ErrorPage, Layout } from "./layout.server.tsx";
import * as avatars from "./users/avatars.server.ts";
import * as profile from "./users/profile.server.tsx";
import * as signIn from "./users/sign-in.server.tsx";
import "./style.css";

/** The application. It serves the functions and pages that these modules export, and nothing else. */
export default new App({
  title: "Team board",
  layout: Layout,
  error: ErrorPage,
  sign_in: "/sign-in",
  strict: true, // every argument must have the type of its parameter
  modules: [signIn, profile, avatars, boardPages, cards],
});
