/** The types of the option `rate` of `server()`. */
import { server } from "../index.ts";

server({ rate: { calls: 5, seconds: 60 } }, (email: string, password: string) => email + password);
server({ rate: { calls: 5, seconds: 60, by: (email) => email.toLowerCase() } }, (email: string, password: string) => {
  return email + password;
});
server(
  { rate: { calls: 5, seconds: 60, by: (_, password: string) => password } },
  (email: string, password: string) => {
    return email + password;
  },
);
server(
  { auth_required: true, rate: { calls: 5, seconds: 60, by: ({ email }) => email } },
  ({ email }: { email: string; code: string }) => email,
);
// @ts-expect-error the key must be a text
server({ rate: { calls: 5, seconds: 60, by: (count) => count } }, (count: number) => count);
// @ts-expect-error the function has one parameter, a number
server({ rate: { calls: 5, seconds: 60, by: (email: string) => email } }, (count: number) => `${count}`);
// @ts-expect-error the span is missing
server({ rate: { calls: 5 } }, (count: number) => `${count}`);
